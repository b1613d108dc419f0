// Bundles the pages that the gateway serves to browsers into libs/console/dist: `index.html`, the console,
// `desk.html`, the operator's desk, and their scripts and style sheet in `assets`, each with a hash of its
// content in its name.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..');
const source = join(root, 'libs/console/src');
const folder = join(root, 'libs/console/dist');

/** Each page with its first script, and where the gateway serves it with its assets. */
const PAGES = [
  { page: 'index.html', script: 'main', home: '/console' },
  { page: 'desk.html', script: 'desk', home: '/desk' },
];

/** The files that the style sheet and the pages are made of, in addition to the compiled code. */
export const consoleSources = [...PAGES.map(({ page }) => page), 'style.css'].map(
  (name) => `libs/console/src/${name}`,
);

/** The style sheet without comments and indentation. */
const styleSheet = () =>
  readFileSync(join(source, 'style.css'), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\n\s*/g, '\n')
    .trim();

async function writeScripts() {
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(PAGES.map(({ script }) => [script, join(source, `${script}.tsx`)])),
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.tsx', '.ts', '.js'] } },
    // The contracts declare schemas beside the functions that the console uses.
    treeshake: { moduleSideEffects: [{ test: /\/libs\/contracts\//, sideEffects: false }] },
  });
  const { output } = await bundle.write({
    dir: join(folder, 'assets'),
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
    comments: false,
  });
  await bundle.close();
  return output.filter(({ isEntry }) => isEntry);
}

/** Writes the pages and their assets, and removes those of earlier builds. */
export async function writeConsole() {
  rmSync(join(folder, 'assets'), { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const entries = await writeScripts();
  const styles = styleSheet();
  const hash = createHash('sha256').update(styles).digest('base64url').slice(0, 8);
  writeFileSync(join(folder, 'assets', `style-${hash}.css`), styles);
  for (const { page, script, home } of PAGES) {
    const { fileName, imports } = entries.find((entry) => entry.fileName.startsWith(`${script}-`));
    const links = [
      `<link rel="stylesheet" href="${home}/assets/style-${hash}.css" />`,
      ...imports.map((name) => `<link rel="modulepreload" href="${home}/assets/${name}" />`),
      `<script type="module" src="${home}/assets/${fileName}"></script>`,
    ];
    const text = readFileSync(join(source, page), 'utf8');
    writeFileSync(
      join(folder, page),
      text.replace('<!-- assets -->', () => links.join('\n    ')),
    );
  }
}
