/**
 * Short sounds for tiles and pagodas, made by the browser itself. They are off until the person
 * turns them on with the button, and the browser remembers that.
 *
 * @param {HTMLButtonElement} button
 */
const soundsOn = (button) => {
  const KEY = "arena-sounds";
  const VOLUME = 0.06;
  /* The pitch in Hz and the length in seconds of each sound. */
  const TICKS = { tile: [220, 0.07], pagoda: [520, 0.12], home: [330, 0.2] };
  /** @type {AudioContext | null} */
  let audio = null;

  /* The storage of a browser can be closed to pages. */
  const isRemembered = () => {
    try {
      return localStorage.getItem(KEY) === "on";
    } catch {
      return false;
    }
  };
  const remember = (isOn) => {
    try {
      localStorage.setItem(KEY, isOn ? "on" : "off");
    } catch {
      // The choice then lasts as long as the page.
    }
  };
  let isOn = isRemembered();
  const show = () => {
    button.setAttribute("aria-pressed", String(isOn));
    button.textContent = isOn ? "Sounds on" : "Sounds off";
  };

  /* Play one of the sounds after a delay in seconds. */
  const tick = (/** @type {keyof typeof TICKS} */ name, delay = 0) => {
    if (!isOn) return;
    audio ??= new AudioContext();
    const [pitch, length] = TICKS[name];
    const begin = audio.currentTime + delay;
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.type = "triangle";
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(VOLUME, begin);
    volume.gain.exponentialRampToValueAtTime(0.0001, begin + length);
    tone.connect(volume).connect(audio.destination);
    tone.start(begin);
    tone.stop(begin + length);
  };
  /* The sounds of a step: its tile, then pagodas that came or went home. */
  const playStep = (/** @type {Step} */ step) => {
    if (step.move === "pass") return;
    tick("tile");
    const kinds = new Set((step.events ?? []).map(([kind]) => kind));
    if (["found", "connect", "conquer", "major"].some((kind) => kinds.has(kind))) {
      tick("pagoda", 0.12);
    }
    if (kinds.has("home") || kinds.has("conquer")) tick("home", 0.24);
  };

  button.addEventListener("click", () => {
    isOn = !isOn;
    remember(isOn);
    show();
    tick("tile");
  });
  show();
  return Object.freeze({ playStep });
};
