import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const conditions = ['svc-source'];

const pure = ['libs/*/{src,test}/**/*.spec.ts', 'apps/*/{src,test}/**/*.spec.ts', 'tools/**/*.spec.mjs'];
const real = [
  'libs/*/{src,test}/**/*.int.ts',
  'apps/*/src/**/*.int.ts',
  'apps/all/test/fault/**/*.fault.ts',
  'tools/*.int.mjs',
];
const endToEnd = ['apps/all/test/e2e/**/*.e2e.ts'];
/** What needs Kafka, Redis and PostgreSQL beside each other, or takes too long for `npm test`. */
const cluster = [
  'libs/*/{src,test}/**/*.cluster.ts',
  'apps/*/{src,test}/**/*.cluster.ts',
  'tools/*.cluster.mjs',
];
const hostile = ['apps/all/test/hostile/**/*.hostile.ts'];

/** How much of their cases tests run, by the mode of vitest; in all others the short form. */
const FORMS: Readonly<Record<string, string>> = { long: 'long', cluster: 'nightly' };

/** The processors that tests may use. */
const PROCESSORS = Math.max(2, Math.floor(availableParallelism() / 2));

/** Only tests that repeat what chance decides have a long form. */
function repeating(patterns: string[]): string[] {
  return globSync(patterns, { cwd: import.meta.dirname }).filter((file) =>
    /\b(?:repeats\(|isLong\b)/.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );
}

/**
 * Kinds of tests in the order of their files, by project so that its workers go on. The first two mostly
 * wait.
 */
const kinds = ['fault', 'hostile', 'int', 'e2e', 'cluster', 'spec'];

/** About how many seconds the slowest files take when others run beside them; the rest take less. */
const SECONDS = new Map<string, number>(
  Object.entries(
    JSON.parse(readFileSync(join(import.meta.dirname, 'tools/slow-tests.json'), 'utf8')) as Record<
      string,
      number
    >,
  ),
);
for (const path of SECONDS.keys())
  if (!existsSync(join(import.meta.dirname, path)))
    throw new Error(`tools/slow-tests.json has ${path}, which does not exist`);

/** A file that mostly waits takes as long as this number of other files. */
const FILES_PER_WAIT = 6;

/**
 * Long files first, so that none is alone at the end. Others come between those that mostly wait for outages
 * and deadlines: many of these at the same time would leave the processors idle.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = files
      .map((file) => ({
        file,
        place: kinds.findIndex((kind) => file.moduleId.includes(`.${kind}.`)),
        seconds: SECONDS.get(relative(import.meta.dirname, file.moduleId)) ?? 0,
        bytes: statSync(file.moduleId).size,
      }))
      .toSorted((a, b) => a.place - b.place || b.seconds - a.seconds || b.bytes - a.bytes);
    const first = kinds.indexOf('int');
    const waiting = ranked.filter(({ place }) => place < first);
    const others = ranked.filter(({ place }) => place >= first);
    const mixed = waiting.flatMap((one) => [one, ...others.splice(0, FILES_PER_WAIT)]);
    return [...mixed, ...others].map(({ file }) => file);
  }
}

/**
 * An end-to-end test with settings of its own restarts processes of its worker's cluster, and so does the
 * next one without.
 */
class SettingsLast extends LongestFirst {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const hasSettings = ({ moduleId }: TestSpecification): boolean =>
      moduleId.endsWith('.e2e.ts') && /(?<!process\.)\benv\b/.test(readFileSync(moduleId, 'utf8'));
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !hasSettings(file)), ...sorted.filter(hasSettings)];
  }
}

/** What CI leaves to the nightly run: it takes minutes, and `npm test` has its guarantee for one process. */
const nightlyOnly = [
  'apps/all/test/fault/{encryption-privacy,restore}.cluster.ts',
  'apps/all/test/observe/{every-query,on-call}.cluster.ts',
  'tools/{guides,install}.cluster.mjs',
];

const clustered = (isShort: boolean) => ({
  extends: true as const,
  test: {
    name: 'cluster',
    include: cluster,
    exclude: isShort ? nightlyOnly : [],
    // In this order: the first says where the second keeps what it builds.
    globalSetup: ['libs/storage/test/run-setup.ts', 'libs/media-jobs/test/s3-setup.ts'],
    // Each file has up to twenty processes.
    maxWorkers: PROCESSORS + 1,
    testTimeout: 240_000,
  },
});

/** End-to-end tests that are about one process or its data folder, and not about what clients meet. */
const ofOneProcess = [
  // How it starts and stops, what it says then, and what is in its data folder.
  'apps/all/test/e2e/{start,refused-start,stop,catalog-changes,operator-notices}.e2e.ts',
  // The times of sessions and batches in its database are moved.
  'apps/all/test/e2e/{console-step-up,batch-endings}.e2e.ts',
  // The days of its database are moved, for which nothing else may run.
  'apps/all/test/e2e/staking.e2e.ts',
  // Memory, threads and event loop of its process.
  'apps/all/test/e2e/chat-slow-reader.e2e.ts',
  'apps/all/test/e2e/chat-fuzz.e2e.ts',
  'apps/all/test/e2e/end-users-many.e2e.ts',
  'apps/all/test/e2e/open-prompts.e2e.ts',
  // Its memory and its data folder; a test of faults searches those of a cluster.
  'apps/all/test/e2e/encryption-privacy.e2e.ts',
  // All that is in its database is counted.
  'apps/all/test/e2e/audit.e2e.ts',
  // A backend is shared by the calls of one process, so that two routers need twice as many of them.
  'apps/all/test/e2e/token-shares.e2e.ts',
  // Two instances call each other.
  'apps/all/test/e2e/hosted-loops.e2e.ts',
  // What its process reads from files, logs, and asks an issuer of tokens for once.
  'apps/all/test/e2e/hosted-{clouds,proxy,secrets}.e2e.ts',
  // The code of its process has one more rail, or another dialect.
  'apps/all/test/e2e/batches-{large,beside-clients}.e2e.ts',
  'apps/all/test/e2e/{third-rail,second-dialect}.e2e.ts',
];

/** The end-to-end tests that CI runs on clusters; all others run there nightly. */
const ofReplicas = [
  // What replicas share: keys, limits, money, jobs, and the state of servers.
  'apps/all/test/e2e/{end-users,key-effects,key-restrictions,rate-limits,money-limits,money-key-limits}.e2e.ts',
  'apps/all/test/e2e/{affinity,batches-shared,operator-drains,operator-jobs,operator-money}.e2e.ts',
  'apps/all/test/e2e/{media-jobs,payments}.e2e.ts',
  'apps/all/test/e2e/{chat-aborts,chat-delivery,chat-completions,reported-usage,traces,svcctl}.e2e.ts',
  // What runs on clusters only, and nothing repeats.
  'apps/all/test/e2e/{chat,message,responses,speech,transcription,crypto-rpc}-clients.e2e.ts',
  'apps/all/test/e2e/{crypto-rpc-finalized,crypto-rpc-replays,bursts,chat-rounds}.e2e.ts',
];

const endToEndOnClusters = (isShort: boolean) => ({
  extends: true as const,
  test: {
    name: 'cluster e2e',
    include: isShort ? ofReplicas : endToEnd,
    exclude: ofOneProcess,
    // In this order, so that the clusters are stopped before the folder with their servers is removed.
    globalSetup: ['libs/storage/test/run-setup.ts', 'apps/all/test/cluster-setup.ts'],
    setupFiles: 'apps/all/test/cluster-failures.ts',
    // Each worker has a cluster, which is configured for each file. One cluster leaves half of the processors
    // idle.
    maxWorkers: PROCESSORS,
    sequence: { groupOrder: 1 },
    testTimeout: 120_000,
    // The first file of a worker waits for its cluster.
    hookTimeout: 300_000,
  },
});

/**
 * End-to-end tests that repeat guarantees of others with further clients, dialects, chains and providers.
 * They run on clusters, so that `npm test` stays short.
 */
const onClustersOnly = [
  'apps/all/test/e2e/{chat,message,responses,speech,transcription,crypto-rpc}-clients.e2e.ts',
  'apps/all/test/e2e/{chat-encryption-faults,chat-encryption-flips,encryption-example}.e2e.ts',
  'apps/all/test/e2e/{contract-wallets,top-up-solana,wallet-history,model-search,x-search}.e2e.ts',
  'apps/all/test/e2e/{chat-rounds,completion-routes,message-equality,responses-parity,responses-search}.e2e.ts',
  // What they hold of the service, tests of the libs hold of their part.
  'apps/all/test/e2e/{chat-templates,image-changes,reasoning-names}.e2e.ts',
  'apps/all/test/e2e/{bursts,buffered-streams,metered-members,transcription-charges,image-backends}.e2e.ts',
  'apps/all/test/e2e/{otlp-settings,crypto-rpc-finalized,crypto-rpc-replays}.e2e.ts',
];

/**
 * What `npm test` leaves to `npm run test:more`, which CI runs too, so that a newcomer waits for minutes
 * only: services of a cluster beside the single process, outages and restarts, random histories, and
 * whatever else takes longest for what it holds.
 */
const more = [
  // Services with their neighbours on Redis or over HTTP.
  'libs/ledger/src/shared-ledger.int.ts',
  'libs/router/src/api/http-router.int.ts',
  'libs/{limiter/src/counting/redis-limiter,hold-book/src/redis-hold-book,limiter/src/limiter.module}.int.ts',
  'apps/{rate-limiter/src/rate-limiter,x402-payments/src/x402-payments,media-worker/src/media-worker}.int.ts',
  // Outages, restarts and deadlines.
  'libs/storage/src/{server/embedded-postgres,sql/instance-lock}.int.ts',
  'libs/runtime/src/{process/run-process,process/proxied-server,http/bodies,calls/internal-client}.int.ts',
  'libs/{jobs/src/jobs,gateway/src/keys/key-changes,catalog/src/operator-file}.int.ts',
  'libs/payments/test/{endless-responses,solana-facilitator}.int.ts',
  'apps/all/test/fault/{database-outage,redis-stopped,redis-three-limiters,repeated-killed,webhooks-killed}.fault.ts',
  'apps/all/test/fault/{batches-charged,repeated-refused}.fault.ts',
  'apps/all/test/fault/{killed-under-load,crypto-rpc-killed,payments,payments-late-node}.fault.ts',
  'apps/all/test/e2e/{refused-start,stop,idle-process,catalog-changes,backend-health,operator-drains,operator-notices}.e2e.ts',
  // Histories, months, and mutated files.
  'libs/{ledger/test/ledger-histories,media-jobs/test/job-histories}.int.ts',
  'libs/payments/test/{anvil,payment}-histories.int.ts',
  'libs/ledger/src/{closing/closing,audit/tampering}.int.ts',
  'libs/media/test/decoders.int.ts',
  'tools/{run-steps,chain}.int.mjs',
  // A process with settings of its own.
  'apps/all/test/e2e/{abuse-protection,money-limits,rate-limits,chat-slow-reader,chat-fuzz,open-prompts}.e2e.ts',
  'apps/all/test/e2e/{traces,telemetry-privacy,encryption-privacy,payments,staking,audit,characters}.e2e.ts',
  'apps/all/test/e2e/{third-rail,second-dialect,crypto-rpc-nodes,chat-endings,end-users-many}.e2e.ts',
  'apps/all/test/e2e/hosted-{clouds,gemini,loops,proxy,secrets}.e2e.ts',
];
const moreEndToEnd = more.filter((pattern) => pattern.includes('/e2e/'));
const moreReal = more.filter((pattern) => !pattern.includes('/e2e/'));

export default defineConfig(({ mode }) => {
  const isLong = mode === 'long';
  const isShort = mode === 'short';
  const isMore = mode === 'more';
  const isOnClusters = mode === 'cluster' || mode === 'cluster-short';
  // A deliberate fault is put into a single process.
  const hasMutant = process.env['SVC_TEST_MUTANT'] !== undefined;
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      globalSetup: 'libs/storage/test/run-setup.ts',
      env: { SVC_TEST_FORM: FORMS[mode] ?? 'short' },
      // Long forms repeat far more in one test.
      testTimeout: isLong ? 600_000 : 60_000,
      hookTimeout: 120_000,
      // By default it is 1 s, which a busy machine may need for anything.
      expect: { poll: { timeout: 30_000 } },
      reporters: ['default', fileURLToPath(new URL('tools/test-report.mjs', import.meta.url))],
      // Each file has servers and ports of its own, so files may run side by side: seven on two processors,
      // because a file spends most of its time waiting for outages, deadlines and other processes.
      maxWorkers: PROCESSORS + 5,
      // What files import is much of their time, and their servers are what keeps them apart.
      isolate: false,
      sequence: { sequencer: isOnClusters ? SettingsLast : LongestFirst },
      projects: isOnClusters
        ? [clustered(mode === 'cluster-short'), endToEndOnClusters(mode === 'cluster-short')]
        : [
            {
              extends: true as const,
              test: {
                name: 'pure',
                include: isMore ? [] : isLong ? repeating(pure) : pure,
                // These wait for nothing, and some compare durations: they come last, one for each
                // processor.
                maxWorkers: PROCESSORS,
                sequence: { groupOrder: 1 },
              },
            },
            {
              extends: true as const,
              test: {
                name: 'real',
                include: isMore ? moreReal : isLong ? [...repeating(real), ...hostile] : real,
                exclude: isShort ? moreReal : [],
              },
            },
            // Every answer is held against the published description.
            {
              extends: true as const,
              test: {
                name: 'e2e',
                include: isMore ? moreEndToEnd : isLong ? repeating(endToEnd) : endToEnd,
                exclude: isLong || hasMutant ? [] : [...onClustersOnly, ...(isShort ? moreEndToEnd : [])],
                globalSetup: ['libs/storage/test/run-setup.ts', 'apps/all/test/process-setup.ts'],
                setupFiles: 'apps/all/test/described-responses.ts',
              },
            },
          ],
    },
  };
});
