import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '@svc/storage';

const here = fileURLToPath(new URL('.', import.meta.url));
const OF_CLIENTS = join(here, 'requirements.txt');
const cache = fileURLToPath(new URL('../../../../.svc/clients', import.meta.url));

/** Exists once an environment is complete. */
const COMPLETE = 'complete';

/** About a hundred packages are downloaded once, and some of them compiled. */
const INSTALL_MS = 1_800_000;

/** How long a node may take to start. */
const START_MS = 60_000;

/** A client's output may be long, and describes its failures. */
const OUTPUT_BYTES = 64 * 1_048_576;

const execute = promisify(execFile);

/** Prints nothing if Python is too old, or lacks the modules for environments. */
const PROBE = 'import ensurepip, sys, venv; sys.version_info >= (3, 11) and print(sys.executable)';

/** A Python that can create a virtual environment. */
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

/** A folder that is filled once, and kept while its inputs stay the same. */
async function kept(madeFrom: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cache, hash('sha256', madeFrom).slice(0, 16));
  if (existsSync(join(folder, COMPLETE))) return folder;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await fill(folder);
  await writeFile(join(folder, COMPLETE), '');
  return folder;
}

const installing = { timeout: INSTALL_MS, maxBuffer: OUTPUT_BYTES };

interface PythonPackages {
  /** The requirements file. */
  readonly requirements: string;
  /** Environment variables for the installation. */
  readonly env: Readonly<Record<string, string>>;
}

/** A virtual environment with these packages. `undefined`, with a warning, if there is no Python. */
export async function openPython(
  { requirements, env }: PythonPackages = { requirements: OF_CLIENTS, env: {} },
): Promise<Installed | undefined> {
  const python = await findPython();
  if (python === undefined) {
    process.stderr.write(
      '\nTESTS THAT NEED PYTHON ARE SKIPPED: there is no Python 3.11 or newer with venv.\n\n',
    );
    return undefined;
  }
  const folder = await kept(python + (await readFile(requirements, 'utf8')), async (environment) => {
    await execute(python, ['-m', 'venv', environment], installing);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements];
    await execute(join(environment, 'bin', 'python'), pip, {
      ...installing,
      env: { ...process.env, ...env },
    });
  });
  return new Installed(join(folder, 'bin'));
}

/** npm tools that need other versions of packages in this repository. */
export async function openGenerators(): Promise<{ tools: Installed; folder: string }> {
  const folder = await installedFrom('generators', ['sdk.mjs']);
  return { tools: new Installed(join(folder, 'node_modules', '.bin')), folder };
}

/**
 * A program on the npm client for encryption, which is under the GPL and is no package of this repository.
 * Returns its path.
 */
export async function openEncryptionClient(): Promise<string> {
  return join(await installedFrom('encryption', ['client.mjs']), 'client.mjs');
}

/** A program on the clients of hosted providers. Returns its path. */
export async function openProviderSdks(): Promise<string> {
  return join(await installedFrom('provider-sdks', ['read.mjs']), 'read.mjs');
}

/** Coding agents for the command line. */
export async function openCommandLines(): Promise<Installed> {
  const folder = await installedFrom('command-lines', [], 'with-scripts');
  return new Installed(join(folder, 'node_modules', '.bin'));
}

/** opencode, whose packages for other systems are not installed. `undefined`, with a warning, elsewhere. */
export async function openOpencode(): Promise<Installed | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    process.stderr.write('\nTESTS OF opencode ARE SKIPPED: they run on Linux and x64.\n\n');
    return undefined;
  }
  return new Installed(join(await installedFrom('opencode'), 'node_modules/opencode-linux-x64/bin'));
}

/** A node of Ethereum with this chain. It runs until it is stopped. */
export async function startHardhat(chainId: number): Promise<StartedProgram> {
  const folder = await installedFrom('hardhat');
  const config = join(folder, 'hardhat.config.mjs');
  await writeFile(config, 'export default {};');
  const at = `--hostname 127.0.0.1 --port ${await freePort()} --chain-id ${chainId}`;
  return new Installed(join(folder, 'node_modules', '.bin')).start(
    'hardhat',
    ['--config', config, 'node', ...at.split(' ')],
    { ready: /server at (http:\S+:\d+)/, deadlineMs: START_MS },
  );
}

/** A portable program that is compiled quickly: the models of the tests are tiny. */
const PORTABLE = ['BUILD_SHARED_LIBS=OFF', 'GGML_NATIVE=OFF', 'GGML_OPENMP=OFF', 'CMAKE_C_FLAGS=-O1'];

/** Compiles one program of a source tree. `undefined`, with a warning, if there is no compiler. */
async function compiled(
  program: string,
  options: readonly string[],
  openSource: () => Promise<string>,
): Promise<Installed | undefined> {
  const hasCompiler = await execute('sh', ['-c', 'cmake --version && c++ --version']).then(
    () => true,
    () => false,
  );
  if (!hasCompiler) {
    process.stderr.write(`\nTESTS OF ${program} ARE SKIPPED: there is no cmake or no C++ compiler.\n\n`);
    return undefined;
  }
  const source = await openSource();
  const all = [...PORTABLE, 'CMAKE_CXX_FLAGS=-O1', ...options].map((option) => `-D${option}`);
  const folder = await kept([program, source, ...all].join(), async (build) => {
    await execute('cmake', ['-S', source, '-B', build, ...all], installing);
    await execute('cmake', ['--build', build, '--target', program, '-j', '2'], installing);
  });
  return new Installed(join(folder, 'bin'));
}

/** The server of whisper.cpp, compiled from the source in an npm package. */
export function openWhisperServer(): Promise<Installed | undefined> {
  return compiled('whisper-server', ['WHISPER_BUILD_TESTS=OFF'], async () => {
    const folder = await installedFrom('../backends/whisper-cpp');
    return join(folder, 'node_modules/nodejs-whisper/cpp/whisper.cpp');
  });
}

/** Contains the source of stable-diffusion.cpp. */
const DIFFUSION = 'stable-diffusion-cpp-python==0.4.7';

/** The server of stable-diffusion.cpp, compiled from the source in a package that this Python downloads. */
export function openDiffusionServer(python: Installed): Promise<Installed | undefined> {
  return compiled('sd-server', ['SD_WEBP=OFF', 'SD_WEBM=OFF'], async () => {
    const folder = await kept(DIFFUSION, async (source) => {
      const download = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--no-binary', ':all:', DIFFUSION];
      const run = await python.run('python', [...download, '-d', source], { deadlineMs: INSTALL_MS });
      if (run.code !== 0) throw new Error(`no source of ${DIFFUSION}: ${run.stderr}`);
      const unpack = 'tar -xzf *.tar.gz --strip-components=1';
      await execute('sh', ['-c', unpack], { ...installing, cwd: source });
    });
    return join(folder, 'vendor/stable-diffusion.cpp');
  });
}

/** Installs the npm packages that a folder beside this file lists, and copies programs that use them. */
async function installedFrom(
  name: string,
  programs: readonly string[] = [],
  scripts?: 'with-scripts',
): Promise<string> {
  const files = ['package.json', 'package-lock.json', ...programs];
  const texts = await Promise.all(files.map((file) => readFile(join(here, name, file), 'utf8')));
  return kept(texts.join(), async (environment) => {
    for (const file of files) await copyFile(join(here, name, file), join(environment, file));
    const options = scripts === 'with-scripts' ? [] : ['--ignore-scripts'];
    await execute('npm', ['ci', ...options], { ...installing, cwd: environment });
  });
}

/** Programs that were installed for tests. */
export class Installed {
  constructor(private readonly bin: string) {}

  /** Starts one that runs until it is stopped, and resolves when its output matches. */
  async start(
    program: string,
    args: readonly string[],
    { ready, deadlineMs, env }: StartOptions,
  ): Promise<StartedProgram> {
    const child = spawn(join(this.bin, program), [...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      // A group of its own, so that the processes that it starts end with it.
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-OUTPUT_BYTES);
      });
    const endMs = Date.now() + deadlineMs;
    for (;;) {
      const match = ready.exec(output);
      if (match) return { match, stop: () => stop(child) };
      if (child.exitCode !== null || Date.now() > endMs) {
        await stop(child);
        throw new Error(`${program} is not ready:\n${output}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Runs one of them, and returns its output, whatever its exit code. */
  async run(program: string, args: readonly string[], given: RunOptions): Promise<Output> {
    const options = {
      cwd: given.cwd ?? here,
      env: {
        PATH: `${this.bin}:${process.env['PATH'] ?? ''}`,
        PYTHONDONTWRITEBYTECODE: '1',
        NO_COLOR: '1',
        ...given.env,
      },
      maxBuffer: OUTPUT_BYTES,
      timeout: given.deadlineMs,
    };
    try {
      const running = execute(join(this.bin, program), [...args], options);
      // Some programs read more input until its end.
      running.child.stdin?.end();
      return { ...(await running), code: 0 };
    } catch (error) {
      const { stdout = '', stderr = String(error), code } = error as Partial<Output>;
      return { stdout, stderr, code: typeof code === 'number' ? code : 1 };
    }
  }
}

export interface StartOptions {
  readonly ready: RegExp;
  readonly deadlineMs: number;
  /** Beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A program that runs in the background. */
export interface StartedProgram {
  /** The start of its output, matched by the pattern. */
  readonly match: RegExpExecArray;
  stop(): Promise<void>;
}

/** Ends a program and the processes that it has started. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  const exit = hasEnded ? undefined : once(child, 'exit');
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // None of them runs any more.
  }
  await exit;
}

export interface RunOptions {
  /** Default: the folder of the test's programs. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly deadlineMs: number;
}

export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}
