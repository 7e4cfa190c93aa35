/* SPDX-License-Identifier: Apache-2.0
 * eslint.config.mjs: what scripts/check-pages asks of the pages, their tests and their benchmarks.
 *
 * The globals are named one by one. A whole list of the browser's holds name, find, stop, open, status and event,
 * which a module that forgot an import would take for its own. */

const named = (text) => Object.fromEntries(text.split(' ').map((each) => [each, 'readonly']));

const EVERYWHERE = named(
  'AbortController AbortSignal Blob DOMException TextDecoder URL URLSearchParams clearInterval clearTimeout console ' +
    'fetch performance setInterval setTimeout',
);
const PAGE = named(
  'Event HTMLElement IntersectionObserver KeyboardEvent PopStateEvent ResizeObserver Worker cancelAnimationFrame ' +
    'document getComputedStyle history localStorage location matchMedia navigator requestAnimationFrame ' +
    'requestIdleCallback sessionStorage window',
);
/* The body of an evaluate() runs in the page. */
const IN_PAGE = named(
  'CanvasRenderingContext2D ClipboardEvent DataTransfer DOMParser DragEvent File MouseEvent MutationObserver Node ' +
    'NodeFilter OffscreenCanvas PointerEvent WheelEvent atob createImageBitmap innerHeight innerWidth',
);
const NODE = named('Buffer process');

const FAULTS = [
  'no-undef',
  'no-const-assign',
  'no-dupe-args',
  'no-dupe-else-if',
  'no-dupe-keys',
  'no-func-assign',
  'no-import-assign',
  'no-redeclare',
  'no-self-assign',
  'no-self-compare',
  'no-unreachable',
  'no-unsafe-finally',
  'no-unsafe-negation',
  'use-isnan',
  'valid-typeof',
];

/* One way of writing: what the pages and their tests keep to. */
const STYLE = {
  'array-bracket-spacing': 'error',
  'arrow-parens': 'error',
  'arrow-spacing': 'error',
  'block-spacing': 'error',
  'brace-style': ['error', '1tbs', { allowSingleLine: true }],
  'comma-dangle': ['error', 'always-multiline'],
  'comma-spacing': 'error',
  'eol-last': 'error',
  eqeqeq: [
    'error',
    'always',
    { null: 'never' },
  ] /* a member that is not known is absent from an answer; a page's own may be null */,
  'key-spacing': 'error',
  'keyword-spacing': 'error',
  'no-multi-spaces': 'error',
  'no-multiple-empty-lines': ['error', { max: 1 }],
  'no-tabs': 'error',
  'no-trailing-spaces': 'error',
  'no-var': 'error',
  'object-curly-spacing': ['error', 'always'],
  'object-shorthand': 'error',
  'padded-blocks': ['error', 'never'],
  'prefer-const': ['error', { destructuring: 'all' }],
  'quote-props': ['error', 'as-needed'],
  quotes: ['error', 'single', { avoidEscape: true, allowTemplateLiterals: true }],
  semi: 'error',
  'space-before-blocks': 'error',
  'space-before-function-paren': ['error', { anonymous: 'always', named: 'never', asyncArrow: 'always' }],
  'space-in-parens': 'error',
  'space-infix-ops': 'error',
};

export default [
  { ignores: ['**/node_modules/**', 'web/vendor/**'] },
  { files: ['web/**/*.js'], languageOptions: { globals: { ...EVERYWHERE, ...PAGE } } },
  { files: ['web/widgets/graph_worker.js'], languageOptions: { globals: named('self') } },
  { files: ['tests/**/*.mjs'], languageOptions: { globals: { ...EVERYWHERE, ...PAGE, ...IN_PAGE, ...NODE } } },
  {
    files: ['web/**/*.js', 'tests/**/*.mjs'],
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...STYLE,
      ...Object.fromEntries(FAULTS.map((fault) => [fault, 'error'])),
      'no-unused-vars': ['error', { ignoreRestSiblings: true }],
    },
  },
  { files: ['web/**/*.js'], rules: { 'max-lines-per-function': ['error', { max: 120 }] } },
];
