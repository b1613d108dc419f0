import { helpText, parseOptions } from './engine/options.js';
import { startSimulator } from './start-simulator.js';

/** The program: starts a simulator from its flags, prints its address, and stops on a signal. */
export async function runSimulator(flags: readonly string[]): Promise<void> {
  const parsed = parseOptions(flags);
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(`${helpText()}\n`);
      break;
    case 'faults':
      process.stderr.write(`${parsed.faults.join('\n')}\n`);
      process.exitCode = 1;
      break;
    case 'options':
      await run(parsed.options);
  }
}

async function run(
  options: Parameters<typeof startSimulator>[0] & { host: string; port: number },
): Promise<void> {
  try {
    const simulator = await startSimulator(options);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        // Nothing awaits a signal handler; a failed close must still end the process.
        void simulator.close().then(
          () => process.exit(0),
          () => process.exit(1),
        );
      });
    }
    process.stdout.write(`model-simulator listening on ${simulator.url}\n`);
    if (process.send) sendAddress(simulator.url);
  } catch (error) {
    process.stderr.write(`model-simulator: ${describe(error, options)}\n`);
    process.exitCode = 1;
  }
}

/** A parent that forked this process gets the address, and its end also ends this process. */
function sendAddress(url: string): void {
  const end = (): never => process.exit(0);
  if (!process.connected) end();
  process.once('disconnect', end);
  // With a callback, a parent that ended just now causes no uncaught error.
  process.send?.({ url }, (error: Error | null) => error && end());
}

function describe(error: unknown, { host, port }: { host: string; port: number }): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return `port ${port} of ${host} is taken; choose another with --port`;
  return error instanceof Error ? error.message : String(error);
}
