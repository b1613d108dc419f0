// A dashboard as an HTML page, on Grafana's grid of 24 columns.
import { panelBody } from './panel.mjs';
import { escaped } from './values.mjs';

const COLUMN = 66;
/** Grafana's grid row height, and the gap between rows. */
const [ROW, GAP] = [30, 8];
const TITLE = 34;

const STYLE = `
body { margin: 0; padding: 12px 8px; background: #f4f5f5; font: 13px 'DejaVu Sans', sans-serif; color: #24292e; width: ${24 * COLUMN}px; }
header { height: 34px; font-size: 16px; display: flex; gap: 10px; align-items: center; padding-left: 4px; }
header span { font-size: 12px; background: #fff; border: 1px solid #d8d9da; border-radius: 2px; padding: 4px 8px; }
main { position: relative; }
section, h2 { position: absolute; box-sizing: border-box; margin: 0; }
section { background: #fff; border: 1px solid #d8d9da; border-radius: 2px; padding: 0 8px; overflow: hidden; }
h2 { font-size: 14px; line-height: 30px; padding-left: 4px; }
h3 { margin: 0; font-size: 13px; line-height: ${TITLE}px; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
svg text { font-size: 10.5px; fill: #52545c; }
.grid { stroke: #e4e5e6; }
table { width: 100%; border-collapse: collapse; font-size: 11px; table-layout: fixed; }
td, th { height: 16px; line-height: 16px; padding: 0 4px; text-align: right; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
th { color: #3274d9; font-weight: normal; width: 84px; }
td:first-child, th:first-child { text-align: left; width: auto; }
i { display: inline-block; width: 12px; height: 3px; margin-right: 6px; vertical-align: middle; }
.more { color: #7b8087; }
.none { text-align: center; color: #7b8087; padding-top: 90px; }
.stat, .stats { text-align: center; }
.stat { font-size: 36px; padding-top: 24px; margin: 0; }
.stats { display: flex; flex-wrap: wrap; gap: 4px 26px; justify-content: center; align-content: center; }
.stats > * { min-width: 0; overflow-wrap: anywhere; }
.stats small { display: block; font-size: 12px; color: #52545c; }
`;

/** Opens collapsed rows, like a click on each: the grid positions already leave room for them. */
const opened = (panels) =>
  panels.flatMap(({ panels: inRow = [], ...panel }) => [{ ...panel, collapsed: false }, ...inRow]);

const placeOf = ({ x, y, w, h }) => ({
  left: x * COLUMN + GAP / 2,
  top: y * (ROW + GAP),
  width: w * COLUMN - GAP,
  height: h * (ROW + GAP) - GAP,
});

async function drawn(panel, asked) {
  const { left, top, width, height } = placeOf(panel.gridPos);
  const style = `left:${left}px;top:${top}px;width:${width}px;height:${height}px`;
  if (panel.type === 'row')
    return {
      html: `<h2 style="${style}">${panel.collapsed ? '▸' : '▾'} ${escaped(panel.title)}${panel.collapsed ? ` (${panel.panels.length} panels)` : ''}</h2>`,
    };
  const { body, hasData } = await panelBody(panel, asked, { width: width - 18, height: height - TITLE - 8 });
  const html = `<section style="${style}"><h3>${escaped(panel.title)}</h3>${body}</section>`;
  return { html, ...(!hasData && { missing: panel.title }) };
}

/** A dashboard's page with its size, and the titles of its panels without data. */
export async function boardPage(board, asked, { isOpen }) {
  const chosen = await asked.choose(board.templating.list);
  const panels = isOpen ? opened(board.panels) : closed(board.panels);
  const parts = await Promise.all(panels.map((panel) => drawn(panel, asked)));
  const bottom = Math.max(...panels.map(({ gridPos }) => placeOf(gridPos).top + placeOf(gridPos).height));
  const choices = chosen.map(
    ({ label, value }) => `<span>${escaped(label)}: ${escaped(value || 'none')}</span>`,
  );
  const html = `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>
<header><b>${escaped(board.title)}</b>${choices.join('')}</header><main style="height:${bottom}px">${parts.map((part) => part.html).join('')}</main>`;
  return {
    html,
    size: { width: 24 * COLUMN + 16, height: bottom + 34 + 32 },
    panels: panels.filter(({ type }) => type !== 'row').length,
    missing: parts.flatMap(({ missing }) => missing ?? []),
  };
}

/** Each collapsed row takes one line, regardless of its content. */
function closed(panels) {
  let y = 0;
  return panels.map((panel) => {
    if (panel.collapsed) {
      const moved = { ...panel, gridPos: { ...panel.gridPos, y } };
      y += 1;
      return moved;
    }
    y = Math.max(y, panel.gridPos.y + panel.gridPos.h);
    return panel;
  });
}
