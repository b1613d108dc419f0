import { chmod, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DevelopmentAccount, gatewayConfig } from '@svc/gateway';
import { ledgerConfig } from '@svc/ledger';
import { imagesConfig } from '@svc/media';
import { paymentsConfig } from '@svc/payments';
import { retrievalConfig } from '@svc/retrieval';
import { routerConfig } from '@svc/router';
import {
  type Catalog,
  type StartingProcess,
  openCatalog,
  openCharacters,
  operatorToken,
  readCatalog,
} from '@svc/runtime';
import type { z } from 'zod';
import { allConfig } from './all.config.js';
import { AllModule } from './all.module.js';
import { announcement } from './announce.js';
import { openDatabase } from './database.js';
import { type LocalServer, offerLocalModels } from './local-models.js';
import { type SimulatorProcess, startSimulatorProcess } from './simulator-process.js';

/** Every setting of this process. */
export const settings = {
  ...allConfig,
  ...gatewayConfig,
  ...routerConfig,
  ...ledgerConfig,
  ...retrievalConfig,
  ...imagesConfig,
  ...paymentsConfig,
};

type Starting = StartingProcess<z.infer<z.ZodObject<typeof settings>>>;

/** Starts every service in this process, in the order in which they need each other, and says where they are. */
export async function start(starting: Starting): Promise<string> {
  const { config, env, logger } = starting;
  const dataDir = await makeDataDir(config.SVC_DATA_DIR);
  const { catalog, localServers } = await catalogAndServers(starting, dataDir);
  const characters = await openCharacters(config.SVC_CHARACTERS, starting);
  const databaseUrl = await openDatabase({ dataDir, url: config.DATABASE_URL }, starting);
  const simulator = await ownSimulator(catalog, starting);
  const simulatorUrl = config.ROUTER_SIMULATOR_URL ?? simulator?.url;
  const searchUrl = config.RETRIEVAL_SIMULATOR_URL ?? simulator?.searchUrl;
  const token = config.SVC_OPERATOR_TOKEN ?? (await operatorToken(dataDir));
  const router = { ...config, ...(simulatorUrl !== undefined && { ROUTER_SIMULATOR_URL: simulatorUrl }) };
  const running = await starting.serve({
    module: AllModule.with({
      databaseUrl,
      catalog,
      characters,
      logger,
      gateway: { config, operatorToken: token },
      router: { ...router, secret: (name) => env[name] },
      ledger: { ...config, LEDGER_JOURNAL_DIR: config.LEDGER_JOURNAL_DIR ?? join(dataDir, 'ledger') },
      retrieval: {
        ...config,
        ...(searchUrl !== undefined && { RETRIEVAL_SIMULATOR_URL: searchUrl }),
        secret: (name) => env[name],
      },
      images: config,
      payments: config,
    }),
    operator: { host: config.HOST, port: config.OPERATOR_PORT },
    events: AllModule.events,
    ...(config.GATEWAY_TRUSTED_PROXIES !== '' && { trustedProxies: config.GATEWAY_TRUSTED_PROXIES }),
    corsOrigins: config.GATEWAY_CORS_ORIGINS,
  });
  return announcement({
    running,
    account: await running.app.get(DevelopmentAccount, { strict: false }).ensure(),
    dataDir,
    operatorTokenFrom:
      config.SVC_OPERATOR_TOKEN === undefined ? join(dataDir, 'operator-token') : 'SVC_OPERATOR_TOKEN',
    simulatorUrl,
    localServers,
    firstModel: (catalog.find('default') ?? catalog.models()[0])?.id ?? '',
  });
}

/** Only its owner may look into it: it holds secrets. */
async function makeDataDir(path: string): Promise<string> {
  const dataDir = resolve(path);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** A faulty catalogue is told before anything is looked for. */
async function catalogAndServers(
  starting: Starting,
  dataDir: string,
): Promise<{ catalog: Catalog; localServers: readonly LocalServer[] }> {
  const path = resolve(starting.config.SVC_CATALOG);
  const extraPath = join(dataDir, 'local-models.yaml');
  await readCatalog(path);
  const localServers = await offerLocalModels(extraPath);
  return { catalog: await openCatalog({ path, extraPath }, starting), localServers };
}

/** The simulator is started where the catalogue counts on one, as a backend or for searches, and says no address. */
async function ownSimulator(
  catalog: Catalog,
  { config, undo }: Starting,
): Promise<SimulatorProcess | undefined> {
  const isMeant = ({ kind, url }: { kind: string; url?: string | undefined }): boolean =>
    kind === 'simulator' && url === undefined;
  const answers = config.ROUTER_SIMULATOR_URL === undefined && catalog.backends().some(isMeant);
  const searches =
    config.RETRIEVAL_SIMULATOR_URL === undefined && catalog.search?.providers.some(isMeant) === true;
  if (!answers && !searches) return undefined;
  const simulator = await startSimulatorProcess();
  undo(() => simulator.stop());
  return simulator;
}
