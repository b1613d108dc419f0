// Compares the extracted content and boilerplate: ours, plain Readability, and trafilatura if Python has it.
// `npm run bench:scrape`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { corpus } from './corpus.js';
import { ours, plainReadability } from './extractors.js';
import { meanShares, sharesOf } from './shares.js';

const PYTHON = process.env['SCRAPE_PYTHON'] ?? 'python3';

/** `undefined` if it is not installed. */
function byTrafilatura(): string[] | undefined {
  const program = fileURLToPath(new URL('read_pages.py', import.meta.url));
  const input = JSON.stringify(corpus.map(({ html }) => html));
  const { status, stdout } = spawnSync(PYTHON, [program], { input, encoding: 'utf8', maxBuffer: 1e9 });
  return status === 0 ? (JSON.parse(stdout) as string[]) : undefined;
}

const percent = (share: number | undefined): string =>
  (share === undefined ? '–' : `${(share * 100).toFixed(1)}`).padStart(6);

it('prints the shares of the corpus', () => {
  const trafilatura = byTrafilatura();
  const extracted: Record<string, string[]> = {
    ours: corpus.map(({ html }) => ours(html)),
    Readability: corpus.map(({ html }) => plainReadability(html)),
    ...(trafilatura && { trafilatura }),
  };
  const shares = Object.entries(extracted).map(
    ([name, texts]) =>
      [name, corpus.map(({ writer }, index) => sharesOf(writer, texts[index] ?? ''))] as const,
  );
  const lines = corpus.map(
    ({ name }, index) =>
      name.padEnd(52) +
      shares.map(([, of]) => percent(of[index]?.found) + percent(of[index]?.noise)).join('  '),
  );
  const head = `${`${corpus.length} pages: % found, % noise let through`.padEnd(52)}${shares.map(([name]) => name.padStart(12)).join('  ')}`;
  const means = shares.map(([, of]) => meanShares(of));
  const mean = `${'mean'.padEnd(52)}${means.map(({ found, noise }) => percent(found) + percent(noise)).join('  ')}`;
  process.stdout.write(`${[head, ...lines, mean].join('\n')}\n`);
  if (!trafilatura)
    process.stdout.write(
      `SKIPPED: trafilatura. Install it from PyPI and name its Python by SCRAPE_PYTHON (now ${PYTHON}).\n`,
    );
  const [first, ...others] = means;
  for (const other of others) {
    expect(first?.found).toBeGreaterThanOrEqual(other.found);
    expect(first?.noise).toBeLessThanOrEqual(other.noise);
  }
});
