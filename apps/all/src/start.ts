import { chmod, mkdir } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { DevelopmentAccount, type FirstAccount, gatewayConfig } from '@svc/gateway';
import { ledgerConfig } from '@svc/ledger';
import { imagesConfig } from '@svc/media';
import { retrievalConfig } from '@svc/retrieval';
import { routerConfig } from '@svc/router';
import {
  Catalog,
  Characters,
  type Running,
  type StartingProcess,
  readCatalog,
  readCharacters,
  watchCatalog,
  watchCharacters,
} from '@svc/runtime';
import type { z } from 'zod';
import { allConfig } from './all.config.js';
import { AllModule } from './all.module.js';
import { announcement } from './announce.js';
import { openDatabase } from './database.js';
import { type LocalServer, offerLocalModels } from './local-models.js';
import { operatorToken } from './operator-token.js';
import { startSimulatorProcess } from './simulator-process.js';

/** Everything, running. */
export interface All {
  readonly running: Running;
  readonly account: FirstAccount | undefined;
  readonly dataDir: string;
  readonly operatorTokenFrom: string;
  readonly simulatorUrl: string | undefined;
  readonly localServers: readonly LocalServer[];
  readonly firstModel: string;
}

/** Every setting of this process. */
export const settings = {
  ...allConfig,
  ...gatewayConfig,
  ...routerConfig,
  ...ledgerConfig,
  ...retrievalConfig,
  ...imagesConfig,
};

type Starting = StartingProcess<z.infer<z.ZodObject<typeof settings>>>;

/** Starts every service in this process, in the order in which they need each other, and says where they are. */
export async function start(starting: Starting): Promise<string> {
  const { config, env, logger } = starting;
  const dataDir = await makeDataDir(config.SVC_DATA_DIR);
  const { catalog, localServers } = await openCatalog(starting, dataDir);
  const characters = await openCharacters(starting);
  const databaseUrl = await openDatabase({ dataDir, url: config.DATABASE_URL }, starting);
  const simulatorUrl = config.ROUTER_SIMULATOR_URL ?? (await ownSimulator(catalog, starting));
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
      retrieval: config,
      images: config,
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

async function openCatalog(
  { config, logger, undo }: Starting,
  dataDir: string,
): Promise<{ catalog: Catalog; localServers: readonly LocalServer[] }> {
  const path = isAbsolute(config.SVC_CATALOG) ? config.SVC_CATALOG : resolve(config.SVC_CATALOG);
  const extraPath = join(dataDir, 'local-models.yaml');
  // A faulty catalogue is told before anything is looked for.
  await readCatalog(path);
  const localServers = await offerLocalModels(extraPath);
  const catalog = new Catalog(await readCatalog(path, extraPath));
  const watch = watchCatalog(catalog, { path, extraPath }, logger);
  undo(() => watch.stop());
  return { catalog, localServers };
}

async function openCharacters({ config, logger, undo }: Starting): Promise<Characters> {
  const { SVC_CHARACTERS: given } = config;
  // A file that somebody named must be there.
  const file = { path: resolve(given ?? 'characters.yaml'), mayBeMissing: given === undefined };
  const characters = new Characters(await readCharacters(file));
  const watch = watchCharacters(characters, file, logger);
  undo(() => watch.stop());
  return characters;
}

/** The simulator is started where the catalogue counts on one and says no address. */
async function ownSimulator(catalog: Catalog, { undo }: Starting): Promise<string | undefined> {
  if (!catalog.backends().some(({ kind, url }) => kind === 'simulator' && url === undefined))
    return undefined;
  const simulator = await startSimulatorProcess();
  undo(() => simulator.stop());
  return simulator.url;
}
