import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const requirements = join(here, 'requirements.txt');
const cache = fileURLToPath(new URL('../../../../.svc/clients', import.meta.url));

/** Is there once an environment has all that it needs. */
const COMPLETE = 'complete';

/** A hundred packages come over the network, once. */
const INSTALL_MS = 600_000;

/** What a client prints may be long, and tells what went wrong. */
const OUTPUT_BYTES = 64 * 1_048_576;

const execute = promisify(execFile);

/** Prints nothing where Python is too old, or lacks what makes an environment. */
const PROBE = 'import ensurepip, sys, venv; sys.version_info >= (3, 11) and print(sys.executable)';

/** A Python that can make a virtual environment. */
async function findPython(): Promise<string | undefined> {
  for (const name of [
    'python3',
    'python3.14',
    'python3.13',
    'python3.12',
    'python3.11',
    '/usr/bin/python3',
  ]) {
    const path = await execute(name, ['-c', PROBE]).then(
      ({ stdout }) => stdout.trim(),
      () => '',
    );
    if (path !== '') return path;
  }
  return undefined;
}

async function install(python: string, environment: string): Promise<void> {
  await rm(environment, { recursive: true, force: true });
  const options = { timeout: INSTALL_MS, maxBuffer: OUTPUT_BYTES };
  await execute(python, ['-m', 'venv', environment], options);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
  await execute(join(environment, 'bin', 'python'), pip, options);
  await writeFile(join(environment, COMPLETE), '');
}

/** A virtual environment with all that the clients need, kept between runs as long as its requirements stay the same. */
export class PythonClients {
  private constructor(private readonly environment: string) {}

  /** `undefined`, and a loud word, where there is no Python. Rejects when the packages can't be had. */
  static async open(): Promise<PythonClients | undefined> {
    const python = await findPython();
    if (python === undefined) {
      process.stderr.write(
        '\nTHE CLIENTS IN PYTHON ARE SKIPPED: there is no Python 3.11 or newer with venv.\n\n',
      );
      return undefined;
    }
    const name = hash('sha256', python + (await readFile(requirements, 'utf8'))).slice(0, 16);
    const environment = join(cache, name);
    if (!existsSync(join(environment, COMPLETE))) await install(python, environment);
    return new PythonClients(environment);
  }

  /** Runs a program of the environment, and gives what it wrote whatever its end. */
  async run(program: string, args: readonly string[], given: RunOptions): Promise<Output> {
    const bin = join(this.environment, 'bin');
    const options = {
      cwd: here,
      env: {
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        PYTHONDONTWRITEBYTECODE: '1',
        ...given.env,
      },
      maxBuffer: OUTPUT_BYTES,
      timeout: given.deadlineMs,
    };
    try {
      return { ...(await execute(join(bin, program), [...args], options)), code: 0 };
    } catch (error) {
      const { stdout = '', stderr = String(error), code } = error as Partial<Output>;
      return { stdout, stderr, code: typeof code === 'number' ? code : 1 };
    }
  }
}

export interface RunOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}
