import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "array-callback-return": "error",
      "consistent-return": "error",
      curly: ["error", "multi-line"],
      "default-case-last": "error",
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-constructor-return": "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-promise-executor-return": "error",
      "no-self-compare": "error",
      "no-sequences": "error",
      "no-template-curly-in-string": "error",
      "no-throw-literal": "error",
      "no-undef": "off", // `tsc` knows which names there are in all scripts of a page
      "no-unreachable-loop": "error",
      "no-unused-expressions": "error",
      "no-unused-vars": ["error", { vars: "local" }], // a script of a page is used by others
      "no-useless-return": "error",
      "no-var": "error",
      "one-var": ["error", "never"],
      "prefer-const": ["error", { destructuring: "all" }],
      radix: "error",
      "require-atomic-updates": "error",
    },
  },
  {
    files: ["arena/web/**", "arena/exports/**", "docs/**"],
    languageOptions: { sourceType: "script", globals: globals.browser },
  },
  {
    files: ["arena/cli/starters/**", "bots/**"],
    languageOptions: { sourceType: "commonjs", globals: globals.node },
  },
];
