// Measures this service, a bare proxy and its peers, in one run. See README.md.
import { writeFileSync } from 'node:fs';
import { startInstantBackend, startStreamBackend } from './backends/backend.mjs';
import { BARE, BESIDE, startGateways, startStreamGateways } from './gateways/gateways.mjs';
import { firstTokenText, runFirstTokens } from './first-tokens.mjs';
import { findLoad } from './load.mjs';
import { describeMachine } from './machine.mjs';
import { Books } from './money.mjs';
import { benchOpenStreams, openStreamsMs } from './open-streams.mjs';
import { readOptions } from './options.mjs';
import { Workplace } from './processes.mjs';
import { headText, loadText, moneyText, ratiosOf, ratioText, startText, streamText } from './report.mjs';
import { LITELLM_MS } from './gateways/peer-litellm.mjs';
import { runLoadRounds, runStreamRounds } from './rounds.mjs';
import { benchShapes } from './shapes/shapes.mjs';
import { runStarts } from './starts.mjs';
import { benchSteps } from './steps/steps.mjs';

/**
 * Time for everything else than the load itself. A normal run then ends within five minutes, a quick
 * one within two.
 */
const MARGIN_MS = { usual: 225_000, quick: 105_000 };

/** Progress goes to stderr: stdout is the report. */
function say(text) {
  console.error(`… ${text}`);
}

/** Runs everything and prints the report. Returns false if something did not start, failed, or lost money. */
async function bench(place, options) {
  const machine = await describeMachine(place.cores);
  const instant = await startInstantBackend(place);
  const stream = await startStreamBackend(place);
  const load = findLoad();
  const urls = { instantUrl: instant.url, streamUrl: stream.url };
  const starts = await runStarts(place, { ...urls, say });
  const gateways = await startGateways(place, { ...urls, options, say });
  const ours = gateways.find(({ operator }) => operator);
  if (ours) ours.books = await Books.open(ours);
  const books = ours?.books;
  const head = { options, machine, backend: instant.name, load: load.name };
  console.log(`${headText(head)}\n\n${startText(starts)}\n`);

  const loads = await runLoadRounds(place, { gateways, load, options, say });
  const ratios = ratiosOf(loads);
  console.log(`${loadText(loads)}\n\n${ratioText(ratios)}\n`);
  const bare = gateways.find(({ name, problem }) => name === BARE && !problem);
  const firstTokens = ours && bare && (await runFirstTokens(place, { ours, bare, load, options, say }));
  if (firstTokens) console.log(`${firstTokenText(firstTokens)}\n`);
  await books?.closeLoad();

  const beside = gateways.find(({ name, problem }) => name === BESIDE && !problem);
  const streamGateways = await startStreamGateways(place, { ours, beside, streamUrl: stream.url });
  const streams = await runStreamRounds({ gateways: streamGateways, options, say });
  console.log(`${streamText(streams, options)}\n`);

  const streamed = streams.find(({ operator }) => operator)?.whole ?? 0;
  const money = books && (await books.closeExact(ours, streamed));
  console.log(money ? moneyText(money) : 'Money\n  not checked: this service did not start');
  if (options.json)
    writeFileSync(options.json, toJson({ ...head, starts, loads, ratios, firstTokens, streams, money }));
  const isWhole =
    loads.every(({ problem, isOptional }) => !problem || isOptional) && streams.every(({ fault }) => !fault);
  return isWhole && money?.ok === true;
}

/** What the options select. */
function measured(place, options) {
  if (options.openStreams !== undefined) return benchOpenStreams(place, { options, say });
  if (options.steps) return benchSteps(place, { options, say });
  return options.shape === 'cluster' ? benchShapes(place, { options, say }) : bench(place, options);
}

/** The figures, without the processes and the keys. */
function toJson(found) {
  const hidden = new Set(['child', 'headers', 'body', 'operator', 'books', 'url']);
  return `${JSON.stringify(found, (name, value) => (hidden.has(name) ? undefined : value), 2)}\n`;
}

async function main() {
  const options = readOptions();
  const place = await Workplace.open({ isPinned: options.pin });
  let isEnding = false;
  const end = async (code, reason) => {
    if (isEnding) return;
    isEnding = true;
    if (reason) console.error(reason);
    await place.close();
    process.exit(code);
  };
  process.on('SIGINT', () => void end(130, 'stopping'));
  process.on('SIGTERM', () => void end(143, 'stopping'));
  const margin = options.quick ? MARGIN_MS.quick : MARGIN_MS.usual;
  // Another checkout takes turns as well; a cluster starts slowly, and each shape has two loads.
  const share =
    options.shape === 'cluster' ? 6 : 3 + (options.beside ? 1 : 0) + (options.peers === 'all' ? 1 : 0);
  const fetchMs = options.peers === 'all' ? LITELLM_MS : 0;
  const usualMs = fetchMs + (margin * share) / 3 + options.rounds * options.seconds * share * 1_000;
  const deadlineMs = options.openStreams === undefined ? usualMs : openStreamsMs(options.openStreams);
  setTimeout(() => void end(1, `the run took more than ${deadlineMs / 1000} s`), deadlineMs);
  try {
    const isGood = await measured(place, options);
    await end(isGood ? 0 : 1);
  } catch (error) {
    await end(1, error.stack);
  }
}

await main();
