import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReplicaProcess } from '@svc/cluster';
import { freePorts } from '@svc/storage';
import { layServerData } from '@svc/storage/testing';
import type { TestProject } from 'vitest/node';
import { type SharedTarget, openControls } from './controls.js';
import { OfferedFiles, allLogs } from './offered-files.js';
import { MAIN, ownEnv } from './own-env.js';

/** A process for each worker of the end-to-end tests, for files without settings of their own. */
export function setup(project: TestProject): Promise<() => Promise<void>> {
  return openControls(project, { isClustered: false, start: startTarget });
}

/** A single process on a database of its own. It starts with the first configuration. */
async function startTarget(): Promise<SharedTarget> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-process-'));
  const logs = join(folder, 'logs');
  const dataDir = join(folder, 'data');
  await mkdir(logs);
  await layServerData(dataDir);
  const files = new OfferedFiles(folder);
  const [port = 0, operatorPort = 0] = await freePorts(2);
  let service: ReplicaProcess | undefined;
  return {
    configure: async (contents) => {
      if (service) {
        const own = [service];
        const of = { SVC_CATALOG: own, SVC_CHARACTERS: own };
        await files.change(contents, { logs, of, restart: () => Promise.resolve([]) });
      } else {
        await files.write(contents);
        service = new ReplicaProcess({
          name: 'all',
          main: MAIN,
          env: ownEnv({
            ...files.env,
            SVC_DATA_DIR: dataDir,
            PORT: String(port),
            OPERATOR_PORT: String(operatorPort),
          }),
          port,
          logPath: join(logs, 'all.log'),
          onEvent: (what) => process.stderr.write(`the process of a worker ${what}\n`),
        });
        await service.ready();
      }
      return {
        apiUrl: `http://127.0.0.1:${port}`,
        gatewayUrls: [`http://127.0.0.1:${port}`],
        operatorUrl: `http://127.0.0.1:${operatorPort}`,
        mediaDir: join(dataDir, 'media'),
        env: files.env,
      };
    },
    logs: () => allLogs(logs),
    stop: async () => {
      const code = await service?.stop();
      await rm(folder, { recursive: true, force: true });
      const isSound = service === undefined || (code === 0 && service.starts === 1);
      return isSound ? [] : ['all'];
    },
  };
}
