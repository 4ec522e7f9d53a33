/* What Python puts into the pages, and the parts of the pages, for `tsc`. */

/** What a move brought: its kind, words, whether pagodas went home, and the number of its rule. */
type StepEvent = [string, string, boolean?, string?];

/** A move, or a pass, in a finished game or in one that is being played. */
interface Step {
  seat: number;
  move: string;
  /** how many tiles lie on the board after the move */
  turn: number;
  pile?: number;
  /** the mover's tiles after the move, two letters each */
  hand?: string;
  events?: StepEvent[];
  ms?: number;
  /** the bot's note in words, and its expected share of the win */
  note?: [string, number | null];
  /** numbers of elements */
  came?: number[];
  went?: number[];
  /** the squares that changed, by their number in reading order */
  cells?: Record<string, string>;
  left?: number[];
  /** cost, error, better move, the mover's share of the win after the move */
  grade?: [number, number, string, number];
  /** the mover's share of the win after the move */
  win?: number;
  /** the best places for the tiles that the mover held, each with its effect */
  tries?: [string, string][];
}

interface Fault {
  seat: number;
  turn: number;
  kind?: string;
  detail?: string;
  /** only in a game that is being played */
  words?: string;
}

/** Something drawn on a board: its layer, then a part with its place, or a seat with a border. */
type BoardElement = [number, string | number, ...any[]];

/** One half of a tile on the board. Rows and columns count from 0. */
interface Half {
  colour: string;
  /** such as c3 */
  square: string;
  row: number;
  column: number;
}

/** A placement as `notation.js` reads it. */
interface Placement {
  first: Half;
  second: Half;
  /** two letters, such as RY */
  tile: string;
  isHorizontal: boolean;
}

/** A seat in the list beside the board. */
interface SeatLine {
  seat: number;
  name: string;
  /** what stands under the name; when the seat moves if it is left out */
  label?: string;
  /** such as "to move" */
  status: string;
  isNext: boolean;
  /** pagodas that the seat holds now, that it held before, and at the start of the game */
  left: number;
  before: number;
  stock: number;
  /** what stands after the number of pagodas */
  unit: string;
}

/** What stands in a seat's line: the words, then nodes such as a hand. */
type LineOf = (
  story: Story,
  state: Position,
  seat: number,
  isNext: boolean,
) => [Pick<SeatLine, "name" | "label" | "status" | "unit">, ...Node[]];

/** A game as `arena/exports/report/viewer_data.py` writes it. */
interface Game {
  id?: string;
  board: string;
  bots: string[];
  names: string[];
  deal?: string;
  reasons?: string[];
  stock: number;
  hands: string[];
  pile?: number;
  elements: BoardElement[];
  scene: number[];
  steps: Step[];
  end?: string;
  ranks: number[];
  left?: number[];
  faults: Fault[];
  judge?: string;
  adviser?: string;
  /** the ids of all games of the same deal */
  seatings?: string[];
}

/** A position in a game. */
interface Position {
  cells: string[];
  scene: number[];
  left: number[];
  hands: string[];
  pile?: number;
  turn: number;
}

/** What `arena/web/opengame.py` tells the page of a game that is being played. */
interface View {
  seat: number;
  names: string[];
  stock: number;
  board: string;
  rows: string[];
  elements: BoardElement[];
  start: number[];
  steps: Step[];
  cells: string[];
  hand: string[];
  hands: number[];
  mover?: number;
  state: "starting" | "yours" | "theirs" | "over" | "broken" | "question" | "tried";
  legal: string[];
  /** lines: kind, seat, words, reason, rule. moves: pagodas left by seat, numbers of lines */
  effects: {
    lines: [string, number, string, string, string][];
    moves: Record<string, [number[], number[]]>;
  };
  /** whether a move of the person can be taken back */
  undo: boolean;
  faults: Fault[];
  /** whether the person left the game and can continue it */
  left?: boolean;
  says?: string;
  end?: string;
  ranks?: number[];
  final?: number[];
  seed?: string;
  kept?: string;
  game?: string;
  /** who won by how much, and how many moves made it so */
  headline?: string;
  grading?: string;
  graded?: boolean;
  /** the person's chance of winning before each step and at the end; empty if nothing is judged */
  chances?: number[];
  /** a sentence: where the result came from */
  sources?: string;
  moments?: Moment[];
}

/** A costly move of the person in a finished game, as `arena/exports/moments.py` writes it. */
interface Moment {
  /** the number of steps before it */
  step: number;
  turn: number;
  title: string;
  words: string;
  /** the share of the win with the better move, and with the one that was played */
  before: number;
  after: number;
  played: string;
}

/** What the page does at the end of a game. */
interface EndActions {
  /** the person wants to find a better move in the moment with this number */
  onAsk(number: number): void;
  /** the person wants to play on from this step */
  onRetry(step: number): void;
}

/** What the page does while a moment is a question. */
interface LessonActions {
  /** show a view; that number of its steps is shown at once */
  onView(view: View, from: number): void;
  onClose(): void;
  onProblem(problem: string): void;
  onRetry(step: number): void;
}

type Story = ReturnType<typeof storyOf>;

interface Window {
  trustedTypes?: {
    createPolicy(name: string, rules: object): { createHTML(text: string): string };
  };
}
declare const trustedTypes: Window["trustedTypes"];

/** The games of a page, and what they name. */
interface ViewerData {
  games: Game[];
  /** the rows of each board, by its name */
  boards: Record<string, string[]>;
  /** the text of each rule, by its number */
  rules: Record<string, string>;
}

/** The viewer of finished games, which the scripts `viewer_*.js` share. */
interface Viewer extends ViewerData {
  parts: ViewerParts;
  table: ReturnType<typeof tableOf>;
  /** the second board, for the twin */
  twinTable: ReturnType<typeof tableOf>;
  /** the stories that were worked out, by the ids of their games */
  stories: Map<string, Story>;
  /** the open game */
  story: Story | null;
  /** a game of the same deal beside it */
  twin: Story | null;
  /** the step of the longer one of the two games */
  cursor: number;
  /** the step of the open game: it stays at the game's end while the cursor goes on through a
   * longer twin */
  step: number;
  /** 0 while the game does not play by itself */
  timer: number;
  shownAddress: string;
}

/** The elements that the viewer asks for by their ids. */
type ViewerParts = Record<
  | "viewer"
  | "result"
  | "board"
  | "board-about"
  | "race"
  | "values"
  | "wins"
  | "times"
  | "now"
  | "players"
  | "log"
  | "seatings"
  | "twin"
  | "twin-board"
  | "twin-about"
  | "twin-players"
  | "same-deal"
  | "deal-tiles"
  | "rule-text"
  | "own-seats"
  | "choice"
  | "tries",
  HTMLElement
> &
  Record<"play" | "key-on" | "moment-on" | "moment-back", HTMLButtonElement> &
  Record<"game" | "kind" | "speed" | "eyes", HTMLSelectElement> &
  Record<"cells" | "deal-results", HTMLTableElement> & {
    link: HTMLAnchorElement;
    step: HTMLInputElement;
  };

/** The elements that `play.js` asks for by their ids. */
type PlayParts = Record<
  | "playing"
  | "ground"
  | "grid"
  | "tiles"
  | "said"
  | "does"
  | "refused"
  | "over"
  | "ending"
  | "grading"
  | "chance"
  | "sources"
  | "moments"
  | "looking"
  | "tally"
  | "lesson"
  | "lesson-title"
  | "lesson-said"
  | "beside"
  | "seats"
  | "seed"
  | "pace"
  | "list"
  | "story",
  HTMLElement
> &
  Record<
    | "turn"
    | "place"
    | "hint"
    | "undo"
    | "choose"
    | "leave"
    | "continue"
    | "sound"
    | "lesson-again"
    | "lesson-best"
    | "lesson-retry"
    | "lesson-back"
    | "rules-open"
    | "share",
    HTMLButtonElement
  > & { look: HTMLAnchorElement; moves: HTMLSelectElement; rules: HTMLDialogElement };

/** What the page does while a person looks through a finished game. */
interface LookingActions {
  isOver(): boolean;
  /** the number of steps of the game */
  count(): number;
  /** the game is to be shown as it was after this number of steps */
  onStep(step: number): void;
}

/** What the page does when a person points at squares of the board. */
interface GridActions {
  onPoint(row: number, column: number): void;
  /** the pointer left the board */
  onLeave(): void;
  /** a click or a touch */
  onClick(row: number, column: number): void;
  /** Enter or the space bar */
  onPress(row: number, column: number): void;
}

/** What the page does with what a person chooses. */
interface ChoosingActions {
  /** a legal move is aimed at, or none */
  onAim(move: string | null): void;
  onPlace(move: string): void;
  /** a move was tried that is not legal */
  onRefused(move: string): void;
}

/** The placement over a square that the person sees; it is fixed once it was clicked. */
interface Aim extends Way {
  row: number;
  column: number;
  isFixed: boolean;
}

/** How a tile lies over a square. */
interface Way {
  move: string;
  /** quarter turns clockwise, 0 to 3 */
  turn: number;
  /** the half that lies on the square: 0 for the tile's first, 1 for its second */
  half: number;
  /** quarter turns since this half was aimed */
  quarters: number;
}

/** The hints for a position: good moves in no order, and later the best of them. */
interface Hints {
  moves: string[];
  best?: string;
  /** the share of the win that the judge expects */
  win?: number;
  reason?: string;
}
