import type { AddressInfo } from 'node:net';
import type { Cancellation, LoggedRequest } from './engine/log.js';
import { DEFAULT_OPTIONS, optionFaults } from './engine/options.js';
import type { SimulatorOptions } from './engine/options.js';
import type { Overrides } from './request/overrides.js';
import { buildServer } from './server.js';
import { Simulation } from './engine/simulation.js';
import type { Stats } from './engine/simulation.js';

/** A running simulator. */
export interface Simulator {
  /** Such as `http://127.0.0.1:4000`, without a path. */
  readonly url: string;
  readonly port: number;
  /** Requests whose client disconnected, oldest first. */
  readonly cancellations: () => Cancellation[];
  /** Recent chat requests, oldest first. */
  readonly requests: () => LoggedRequest[];
  readonly stats: () => Stats;
  /** Sets the default settings of requests from now on or, with `count`, of that many requests. */
  readonly setFaults: (defaults: Overrides, count?: number) => void;
  /** Clears both logs and resets the counts. */
  readonly clearLog: () => void;
  /** Stops immediately; open responses are cut. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a simulator in this process, on a free port unless `port` is given. Throws a `RangeError` that lists
 * every fault of the options; rejects if the port is taken.
 */
export async function startSimulator(options: Partial<SimulatorOptions> = {}): Promise<Simulator> {
  const settings: SimulatorOptions = { ...DEFAULT_OPTIONS, port: 0, ...options };
  const faults = optionFaults(settings);
  if (faults.length > 0) throw new RangeError(faults.join('\n'));
  const simulation = new Simulation(settings);
  const app = buildServer(simulation);
  await app.listen({ host: settings.host, port: settings.port });
  const { port } = app.server.address() as AddressInfo;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  return {
    url: `http://${host}:${port}`,
    port,
    cancellations: () => simulation.log.cancellations(),
    requests: () => simulation.log.requests(),
    stats: () => simulation.stats(),
    setFaults: (defaults, count = Number.POSITIVE_INFINITY) => simulation.setDefaults(defaults, count),
    clearLog: () => simulation.clear(),
    close: async () => {
      simulation.isStopping = true;
      await app.close();
    },
  };
}
