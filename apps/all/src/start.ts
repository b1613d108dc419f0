import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import {
  type Catalog,
  LastGoodFolder,
  type LocalServer,
  type Model,
  offerLocalModels,
  openCatalog,
  openCharacters,
} from '@svc/catalog';
import { DevelopmentAccount, SignIns, gatewayConfig } from '@svc/gateway';
import { ledgerConfig } from '@svc/ledger';
import { imagesConfig } from '@svc/media';
import { FileMediaStore, mediaJobsConfig } from '@svc/media-jobs';
import { RAILS, type RailKind, paymentsConfig } from '@svc/payments';
import { retrievalConfig } from '@svc/retrieval';
import { routerConfig } from '@svc/router';
import { type Running, type Secrets, type StartingProcess, openSecrets, ownSecret } from '@svc/runtime';
import { whenReachable } from '@svc/storage';
import { watchDisk } from '@svc/telemetry';
import type { z } from 'zod';
import { allConfig } from './all.config.js';
import { AllModule } from './all.module.js';
import { announcement } from './announce.js';
import { openDatabase } from './database.js';
import { type SimulatorProcess, startSimulatorProcess } from './simulator-process.js';

/** All settings of this process. */
export const settings = {
  ...allConfig,
  ...gatewayConfig,
  ...routerConfig,
  ...ledgerConfig,
  ...retrievalConfig,
  ...imagesConfig,
  ...paymentsConfig,
  ...mediaJobsConfig,
};

type Starting = StartingProcess<z.infer<z.ZodObject<typeof settings>>>;

/** Starts every service in this process, in the order of their dependencies, and returns their addresses. */
export async function start(starting: Starting, rails: readonly RailKind[] = RAILS): Promise<string> {
  const { env, logger } = starting;
  const secret = await openSecrets(starting.config.ROUTER_SECRETS_DIR, starting);
  const dataDir = await makeDataDir(starting.config.SVC_DATA_DIR);
  starting.undo(watchDisk('data', dataDir));
  const { config } = starting;
  const lastGood = new LastGoodFolder(join(dataDir, 'last-good'));
  const { catalog, localServers } = await catalogAndServers(starting, {
    dataDir,
    lastGood,
    secret,
  });
  const characters = await openCharacters(config, starting, { lastGood });
  const { DATABASE_URL: url, DATABASE_START_WAIT_MS: waitMs } = config;
  // It starts while the database opens. The database's fault is the first to be reported.
  const simulatorStarts = ownSimulator(catalog, starting);
  simulatorStarts.catch(() => undefined);
  const databaseUrl = await openDatabase({ dataDir, url, waitMs }, starting);
  const simulator = await simulatorStarts;
  const simulatorUrl = config.ROUTER_SIMULATOR_URL ?? simulator?.url;
  const searchUrl = config.RETRIEVAL_SIMULATOR_URL ?? simulator?.searchUrl;
  const token = config.SVC_OPERATOR_TOKEN ?? (await ownSecret(dataDir, 'operator-token'));
  const webhookKey = config.GATEWAY_WEBHOOK_KEY ?? (await ownSecret(dataDir, 'webhook-key'));
  const router = { ...config, ...(simulatorUrl !== undefined && { ROUTER_SIMULATOR_URL: simulatorUrl }) };
  const running = await starting.serve({
    module: AllModule.with({
      databaseUrl,
      catalog,
      characters,
      logger,
      gateway: { config: { ...config, GATEWAY_WEBHOOK_KEY: webhookKey }, operatorToken: token },
      router: { ...router, secret },
      ledger: { ...config, LEDGER_JOURNAL_DIR: config.LEDGER_JOURNAL_DIR ?? join(dataDir, 'ledger') },
      retrieval: {
        ...config,
        ...(searchUrl !== undefined && { RETRIEVAL_SIMULATOR_URL: searchUrl }),
        secret: (name) => env[name],
      },
      images: config,
      payments: { config, rails },
      mediaJobs: { config, files: await FileMediaStore.at(join(dataDir, 'media')) },
    }),
    operator: { host: config.HOST, port: config.OPERATOR_PORT },
    events: AllModule.events,
    ...(config.GATEWAY_TRUSTED_PROXIES !== '' && { trustedProxies: config.GATEWAY_TRUSTED_PROXIES }),
    proxyListen: config.GATEWAY_PROXY_LISTEN,
    connectionsPerAddress: config.GATEWAY_CONNECTIONS_PER_ADDRESS,
    corsOrigins: config.GATEWAY_CORS_ORIGINS,
  });
  const { account, consoleLink } = await whenReachable({ url: databaseUrl, waitMs, logger }, () =>
    firstAccount(running, config.SVC_CONSOLE === 'on'),
  );
  return announcement({
    running,
    account,
    consoleLink,
    hasDesk: config.SVC_CONSOLE === 'on',
    dataDir,
    operatorTokenFrom:
      config.SVC_OPERATOR_TOKEN === undefined ? join(dataDir, 'operator-token') : 'SVC_OPERATOR_TOKEN',
    simulatorUrl,
    localServers,
    catalog,
    firstModel: modelToTry(catalog)?.id ?? '',
  });
}

/** The account to begin with, and the secret of a link that signs in to its console. */
async function firstAccount({ app }: Running, hasConsole: boolean) {
  const account = await app.get(DevelopmentAccount, { strict: false }).ensure();
  const mayLink = account !== undefined && hasConsole;
  const consoleLink = mayLink ? await app.get(SignIns, { strict: false }).link(account.accountId) : undefined;
  return { account, consoleLink };
}

/** The default model if it has a real server, otherwise the first model with one, otherwise the default. */
function modelToTry(catalog: Catalog): Model | undefined {
  const models = [catalog.text.find('default') ?? [], catalog.text.list].flat();
  const isReal = ({ backends, offline }: Model): boolean =>
    !offline && backends.some(({ kind }) => kind === 'openai');
  return models.find(isReal) ?? models[0];
}

/** Only its owner may list the folder, because it contains secrets. */
async function makeDataDir(path: string): Promise<string> {
  const dataDir = resolve(path);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o711);
  return dataDir;
}

interface CatalogPlaces {
  readonly dataDir: string;
  readonly lastGood: LastGoodFolder;
  readonly secret: Secrets;
}

/** Reads the catalogue first, since its names are not given to the models of local servers. */
async function catalogAndServers(
  starting: Starting,
  { dataDir, lastGood, secret }: CatalogPlaces,
): Promise<{ catalog: Catalog; localServers: readonly LocalServer[] }> {
  const extraPath = join(dataDir, 'local-models.yaml');
  const catalog = await openCatalog(starting.config, starting, { lastGood, extraPath, secret });
  const localServers = await offerLocalModels(extraPath, { models: catalog.entries() }, { secret });
  if (localServers.length > 0) await catalog.source?.reload();
  return { catalog, localServers };
}

/** Starts the simulator if the catalogue uses one without a URL, as a backend or as a search provider. */
async function ownSimulator(catalog: Catalog, starting: Starting): Promise<SimulatorProcess | undefined> {
  const { config } = starting;
  const isMeant = ({ kind, url }: { kind: string; url?: string | undefined }): boolean =>
    kind === 'simulator' && url === undefined;
  const responses = config.ROUTER_SIMULATOR_URL === undefined && catalog.backends().some(isMeant);
  const searches =
    config.RETRIEVAL_SIMULATOR_URL === undefined && catalog.search?.providers.some(isMeant) === true;
  if (!responses && !searches) return undefined;
  return startSimulatorProcess(starting);
}
