// Thresholds of panels, derived from the description of bad values: the line on a chart is at the number in
// the text.

const IN_SECONDS = { ms: 0.001, s: 1, minutes: 60 };
const COLOURS = ['yellow', 'orange', 'red'];

/** The smallest value above zero, for panels on which only zero is good. */
const ABOVE_ZERO = 1e-9;

const FIGURES = [
  /\b(?<side>above|below) (?<figure>\d[\d.,]*\d|\d) ?(?<of>ms|s|minutes|%)?/gi,
  /(?<side>bound of) (?<figure>\d[\d.,]*\d|\d)/g,
  // A value on its own, such as `0: nothing is left.`
  /(?:^|\. )(?<side>)(?<figure>\d[\d,]*)(?=[:.]| for )/g,
];

const BELOW_ONE = 'below one';

function stepOf({ side, figure, of }, { title, unit }) {
  const number = Number(figure.replaceAll(',', ''));
  const scale = of === '%' ? 0.01 : (IN_SECONDS[of] ?? 1);
  // `Above 1 % of what is charged` is not a threshold for a panel in dollars.
  const isOfPanel = of === '%' ? unit === 'percentunit' : of === undefined || unit === 's';
  if (!isOfPanel) return [];
  if (unit === 's' && of === undefined) throw new Error(`${title}: ${figure} of what?`);
  if (side === '' && number === 0) return [{ side: BELOW_ONE, value: 1 }];
  const value = Number((number * scale).toPrecision(6));
  return [{ side: side.toLowerCase(), value: side.toLowerCase() === 'below' ? value : value || ABOVE_ZERO }];
}

/** The steps of a panel: its colours by ascending value. */
export function thresholdsOf(panel) {
  const text = panel.bad.replace(/^Any\b/, 'Above 0');
  const found = FIGURES.flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(({ groups }) => stepOf(groups, panel)),
  );
  const [below] = found.filter(({ side }) => side.startsWith('below'));
  if (below)
    return [
      { value: null, color: 'red' },
      { value: below.value, color: 'green' },
    ];
  const bounds = [...new Set(found.map(({ value }) => value))].toSorted((a, b) => a - b);
  const colours = COLOURS.slice(-bounds.length);
  return [
    { value: null, color: 'green' },
    ...bounds.map((value, index) => ({ value, color: colours[index] ?? 'red' })),
  ];
}
