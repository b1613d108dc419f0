// The cost of distribution: this service as one process, and as a cluster of one process of each kind, in
// turn.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Cluster, internalTokens } from '@svc/cluster';
import { temporaryInfra } from '@svc/infra';
import { startInstantBackend, startStreamBackend } from '../backends/backend.mjs';
import { childrenPids } from '../cpu.mjs';
import { prove, ready } from '../gateways/gateways.mjs';
import { findLoad, steadyLoad } from '../load.mjs';
import { describeMachine } from '../machine.mjs';
import { Books } from '../money.mjs';
import { Operator, catalog, startOurs } from '../gateways/ours.mjs';
import { headText, moneyText } from '../report.mjs';
import { medians, runLoadRounds, runStreamRounds } from '../rounds.mjs';
import { chunksText, loadsText, partsText, timesText } from './report.mjs';

/** The address of the catalogue's simulator, which nothing uses here. */
const NO_SIMULATOR_URL = 'http://127.0.0.1:9/v1';

/**
 * Code is compiled after a number of runs, and the cluster serves a third of the requests of one process:
 * they are equally warm only after the same number of requests.
 */
const WARM_UP_SECONDS = {
  one: { usual: 25, quick: 5 },
  cluster: { usual: 90, quick: 15 },
  again: { usual: 2, quick: 1 },
};

/** Share of the slower shape's maximum. */
const STEADY_SHARE = 0.8;

/** Runs everything and prints the report. Returns false if something did not start, failed, or lost money. */
export async function benchShapes(place, { options, say }) {
  const machine = await describeMachine(place.cores);
  const { url: instantUrl, name: backend } = await startInstantBackend(place);
  const load = findLoad();
  const { url: streamUrl } = await startStreamBackend(place);
  const urls = { instantUrl, streamUrl };
  const shapes = [];
  const starts = [
    { name: 'one process', start: startOne, warmUp: WARM_UP_SECONDS.one },
    { name: 'cluster', start: startCluster, warmUp: WARM_UP_SECONDS.cluster },
  ];
  for (const { name, start, warmUp } of starts) {
    say(`starting ${name}`);
    const shape = ready(place, await start(place, { ...urls, profile: options.profile }));
    await prove(shape);
    shapes.push({ name, warmUp, ...shape, books: await Books.open(shape) });
  }
  const head = { options, machine, backend, load: load.name };
  console.log(`${headText(head)}\n`);
  const withParts = (measured) =>
    measured.map((shape) => ({ ...shape, parts: medians(shape.rounds.map(({ parts }) => parts)) }));
  const run = async (gateways, how) =>
    withParts(await runLoadRounds(place, { gateways, options, say, ...how }));
  const full = await run(shapes, { load });
  console.log(`As many requests as each can answer\n${loadsText(full)}\n${partsText(full)}\n`);
  // A process with little load has a higher cost per request, so only the same load is comparable.
  const rate = Math.max(
    1,
    Math.floor(STEADY_SHARE * Math.min(...full.map(({ median }) => median.perSecond))),
  );
  say(`${rate} requests/s for each`);
  const warm = shapes.map((shape) => ({ ...shape, warmUp: WARM_UP_SECONDS.again }));
  const steady = await run(warm, { load: steadyLoad(), rate });
  console.log(
    `The same requests/s for both\n${loadsText(steady)}\n${partsText(steady)}\n\n${timesText(steady)}\n`,
  );
  for (const { books } of shapes) await books.closeLoad();
  const streams = withParts(await runStreamRounds({ gateways: shapes, options, say }));
  console.log(`${chunksText(streams)}\n`);
  let isGood = streams.every(({ whole, opened }) => whole === opened);
  for (const [at, { name, books, ...shape }] of shapes.entries()) {
    const money = await books.closeExact(shape, streams[at].whole);
    console.log(`${name}: ${moneyText(money)}`);
    isGood &&= money.ok;
  }
  return isGood;
}

async function startOne(place, options) {
  const one = await startOurs(place, options);
  return { ...one, parts: { PostgreSQL: () => childrenPids(one.child.pid) } };
}

/** One process of each kind, on separate servers; the load bypasses the balancer. */
export async function startCluster(place, { profile, ...urls }) {
  const infra = await temporaryInfra();
  place.atEnd(() => infra.wipe());
  const catalogPath = join(place.dir, 'cluster.yaml');
  // JSON is valid YAML.
  writeFileSync(catalogPath, JSON.stringify(catalog(urls)));
  const folder = join(place.dir, 'cluster');
  const operatorToken = randomBytes(32).toString('base64url');
  const cluster = await Cluster.start({
    shared: { ...(await infra.up()), SVC_OPERATOR_TOKEN: operatorToken, ...internalTokens() },
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_ENV: 'production',
      SVC_CATALOG: catalogPath,
      SVC_DRAIN_MS: '2000',
      // All load comes from one account.
      GATEWAY_ACCOUNT_CONCURRENCY: '0',
      ROUTER_SIMULATOR_URL: NO_SIMULATOR_URL,
      ...(profile && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(profile)}` }),
    },
    folder,
  });
  place.atEnd(() => cluster.stop());
  const [{ port, pid }] = cluster.replicas('gateway');
  const operator = new Operator(`${cluster.operatorUrl}/operator/v1`, operatorToken);
  const own = (kind) => () => Promise.resolve(cluster.replicas(kind).map((service) => service.pid));
  return {
    child: { pid },
    url: `http://127.0.0.1:${port}/api/v1/chat/completions`,
    headers: { authorization: `Bearer ${await operator.openAccount()}` },
    operator,
    infra,
    folder,
    parts: {
      router: own('router'),
      ledger: own('ledger'),
      limiter: own('limiter'),
      Redis: () => infra.redis.pids(),
      Kafka: () => infra.kafka.pids(),
      PostgreSQL: () => infra.postgres.pids(),
    },
  };
}
