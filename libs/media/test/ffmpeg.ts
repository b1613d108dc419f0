import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether FFmpeg is on this machine. */
export const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
export const hasPython = spawnSync('python3', ['--version']).status === 0;

const RATE = 16_000;
const SAMPLE_BYTES = 2;
const FILES_AT_ONCE = 25;

/** Noise that changes like speech. */
const SOURCE = 'anoisesrc=c=pink:r=44100:a=0.4:seed=1,tremolo=f=4:d=0.9';

const PYTHON = `
import sys, wave
for path in sys.argv[1:]:
    with wave.open(path) as file:
        print(len(file.readframes(file.getnframes())) / file.getsampwidth() / file.getnchannels() / file.getframerate())
`;

/** Files of a test that programs read and write. */
export class AudioFolder {
  private readonly path = mkdtempSync(join(tmpdir(), 'svc-decoders-'));
  private files = 0;

  remove(): void {
    rmSync(this.path, { recursive: true });
  }

  /** Files of these seconds of noise, by FFmpeg's options for each; with `|` it can't go back in the file. */
  async made(seconds: number, outputs: readonly string[]): Promise<Buffer[]> {
    const paths = outputs.map(() => this.newPath());
    const targets = outputs.flatMap((output, at) => {
      const path = paths[at] ?? '';
      const options = output.split(' ');
      return options.at(-1) === '|'
        ? ['-t', String(seconds), ...options.slice(0, -1), '-seekable', '0', `file:${path}`]
        : ['-t', String(seconds), ...options, path];
    });
    await run('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', SOURCE, ...targets]);
    return paths.map((path) => readFileSync(path));
  }

  /** The seconds of audio that FFmpeg decodes from each file, whatever it says of errors. */
  async decodedSeconds(files: readonly Uint8Array[]): Promise<number[]> {
    const paths = files.map((file) => this.written(file));
    const seconds: number[] = [];
    for (let at = 0; at < paths.length; at += FILES_AT_ONCE) {
      const some = paths.slice(at, at + FILES_AT_ONCE);
      seconds.push(...((await this.decoded(some)) ?? (await this.decodedAlone(some))));
    }
    return seconds;
  }

  /** The seconds that the module `wave` of Python reads from each file. */
  async pythonSeconds(files: readonly Uint8Array[]): Promise<number[]> {
    const { stdout } = await run('python3', ['-c', PYTHON, ...files.map((file) => this.written(file))]);
    return stdout.trim().split('\n').map(Number);
  }

  private async decodedAlone(paths: readonly string[]): Promise<number[]> {
    const seconds: number[] = [];
    for (const path of paths) seconds.push((await this.decoded([path]))?.[0] ?? 0);
    return seconds;
  }

  /** Undefined if a file can't be opened. */
  private async decoded(paths: readonly string[]): Promise<number[] | undefined> {
    const outputs = paths.map(() => this.newPath());
    const targets = outputs.flatMap((path, at) => [
      '-map',
      `${at}:a:0`,
      '-ac',
      '1',
      '-ar',
      String(RATE),
      '-f',
      's16le',
      path,
    ]);
    const args = ['-v', 'quiet', '-y', ...paths.flatMap((path) => ['-i', path]), ...targets];
    try {
      await run('ffmpeg', args);
      return outputs.map((path) => statSync(path).size / SAMPLE_BYTES / RATE);
    } catch {
      return undefined;
    }
  }

  private written(file: Uint8Array): string {
    const path = this.newPath();
    writeFileSync(path, file);
    return path;
  }

  private newPath(): string {
    this.files += 1;
    return join(this.path, String(this.files));
  }
}
