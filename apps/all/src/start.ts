import { chmod, mkdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { DevelopmentAccount, type FirstAccount, gatewayConfig } from '@svc/gateway';
import { ledgerConfig } from '@svc/ledger';
import { retrievalConfig } from '@svc/retrieval';
import { routerConfig } from '@svc/router';
import {
  Catalog,
  Characters,
  type Logger,
  type Running,
  createLogger,
  flushLog,
  loadConfig,
  readCatalog,
  readCharacters,
  serve,
  watchCatalog,
  watchCharacters,
} from '@svc/runtime';
import { type AllConfig, allConfig } from './all.config.js';
import { AllModule } from './all.module.js';
import { openDatabase } from './database.js';
import { type LocalServer, offerLocalModels } from './local-models.js';
import { operatorToken } from './operator-token.js';
import { startSimulatorProcess } from './simulator-process.js';
import type { Stopper } from './stopper.js';

/** Everything, running. */
export interface All {
  readonly running: Running;
  readonly logger: Logger;
  readonly account: FirstAccount | undefined;
  readonly dataDir: string;
  readonly operatorTokenFrom: string;
  readonly simulatorUrl: string | undefined;
  readonly localServers: readonly LocalServer[];
  readonly firstModel: string;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Starts every service in this process, in the order in which they need each other. */
export async function start(env: Env, stopper: Stopper): Promise<All> {
  const config = loadConfig(
    { ...allConfig, ...gatewayConfig, ...routerConfig, ...ledgerConfig, ...retrievalConfig },
    env,
  );
  const logger = createLogger(config.SVC_LOG_LEVEL);
  stopper.add(() => Promise.resolve(flushLog(logger)));
  const dataDir = await makeDataDir(config.SVC_DATA_DIR);
  const { catalog, localServers } = await openCatalog(config, { dataDir, logger, stopper });
  const characters = await openCharacters(config, { logger, stopper });
  const databaseUrl = await openDatabase({ dataDir, url: config.DATABASE_URL }, logger, stopper);
  const simulatorUrl = config.ROUTER_SIMULATOR_URL ?? (await ownSimulator(catalog, stopper));
  const token = config.SVC_OPERATOR_TOKEN ?? (await operatorToken(dataDir));
  const router = { ...config, ...(simulatorUrl !== undefined && { ROUTER_SIMULATOR_URL: simulatorUrl }) };
  const running = await serve({
    module: AllModule.with({
      databaseUrl,
      catalog,
      characters,
      logger,
      gateway: { config, operatorToken: token },
      router: { ...router, secret: (name) => env[name] },
      ledger: config,
      retrieval: config,
    }),
    logger,
    api: { host: config.HOST, port: config.PORT },
    operator: { host: config.HOST, port: config.OPERATOR_PORT },
    events: AllModule.events,
    drainMs: config.SVC_DRAIN_MS,
    ...(config.GATEWAY_TRUSTED_PROXIES !== '' && { trustedProxies: config.GATEWAY_TRUSTED_PROXIES }),
  });
  stopper.add(() => running.stop());
  return {
    running,
    logger,
    account: await running.app.get(DevelopmentAccount, { strict: false }).ensure(),
    dataDir,
    operatorTokenFrom:
      config.SVC_OPERATOR_TOKEN === undefined ? join(dataDir, 'operator-token') : 'SVC_OPERATOR_TOKEN',
    simulatorUrl,
    localServers,
    firstModel: (catalog.find('default') ?? catalog.models()[0])?.id ?? '',
  };
}

/** Only its owner may look into it: it holds secrets. */
async function makeDataDir(path: string): Promise<string> {
  const dataDir = resolve(path);
  await mkdir(dataDir, { recursive: true });
  await chmod(dataDir, 0o711);
  return dataDir;
}

interface Surroundings {
  readonly dataDir: string;
  readonly logger: Logger;
  readonly stopper: Stopper;
}

async function openCatalog(
  config: AllConfig,
  { dataDir, logger, stopper }: Surroundings,
): Promise<{ catalog: Catalog; localServers: readonly LocalServer[] }> {
  const path = isAbsolute(config.SVC_CATALOG) ? config.SVC_CATALOG : resolve(config.SVC_CATALOG);
  const extraPath = join(dataDir, 'local-models.yaml');
  // A faulty catalogue is told before anything is looked for.
  await readCatalog(path);
  const localServers = await offerLocalModels(extraPath);
  const catalog = new Catalog(await readCatalog(path, extraPath));
  const watch = watchCatalog(catalog, { path, extraPath }, logger);
  stopper.add(() => Promise.resolve(watch.stop()));
  return { catalog, localServers };
}

async function openCharacters(
  { SVC_CHARACTERS: given }: AllConfig,
  { logger, stopper }: Omit<Surroundings, 'dataDir'>,
): Promise<Characters> {
  // A file that somebody named must be there.
  const file = { path: resolve(given ?? 'characters.yaml'), mayBeMissing: given === undefined };
  const characters = new Characters(await readCharacters(file));
  const watch = watchCharacters(characters, file, logger);
  stopper.add(() => Promise.resolve(watch.stop()));
  return characters;
}

/** The simulator is started where the catalogue counts on one and says no address. */
async function ownSimulator(catalog: Catalog, stopper: Stopper): Promise<string | undefined> {
  if (!catalog.backends().some(({ kind, url }) => kind === 'simulator' && url === undefined))
    return undefined;
  const simulator = await startSimulatorProcess();
  stopper.add(() => simulator.stop());
  return simulator.url;
}
