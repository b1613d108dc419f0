import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { KAFKA_JARS, KAFKA_VERSION } from './kafka-jars.js';
import type { ServerEnvironment } from './server.js';

const MAVEN_CENTRAL = 'https://repo1.maven.org/maven2';
const AT_ONCE = 6;
const JAR_MS = 60_000;

/** The folder for programs that several folders share. */
export const cacheFolder = (env: ServerEnvironment): string =>
  join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'svc');

/**
 * The folder with the broker's jars. Missing ones are downloaded from `MAVEN_URL`, from the Maven Central
 * mirror in Maven's own settings, or from Maven Central, and verified.
 */
export async function findKafka(env: ServerEnvironment): Promise<string> {
  const folder = join(cacheFolder(env), `kafka-${KAFKA_VERSION}`);
  await mkdir(folder, { recursive: true });
  const there = new Set(await readdir(folder));
  const missing = KAFKA_JARS.filter(([coordinates]) => !there.has(fileOf(coordinates)));
  if (missing.length === 0) return folder;
  const base = await repositoryUrl(env);
  const waiting = [...missing];
  const fetchSome = async (): Promise<void> => {
    for (let jar = waiting.pop(); jar; jar = waiting.pop()) {
      const [coordinates, sha256] = jar;
      await fetchJar({
        url: `${base}/${pathOf(coordinates)}`,
        sha256,
        path: join(folder, fileOf(coordinates)),
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fetchSome));
  return folder;
}

const fileOf = (coordinates: string): string => {
  const [, artifact, version] = coordinates.split(':');
  return `${artifact}-${version}.jar`;
};

const pathOf = (coordinates: string): string => {
  const [group = '', artifact, version] = coordinates.split(':');
  return `${group.replaceAll('.', '/')}/${artifact}/${version}/${fileOf(coordinates)}`;
};

/** A jar gets its name only when it is complete, so that a crash never leaves a partial one. */
async function fetchJar(jar: { url: string; sha256: string; path: string }): Promise<void> {
  const response = await fetch(jar.url, { signal: AbortSignal.timeout(JAR_MS) });
  if (!response.ok) throw new Error(`${jar.url} returned ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== jar.sha256) throw new Error(`${jar.url} has the SHA-256 ${found} instead of ${jar.sha256}`);
  const aside = `${jar.path}.${randomUUID()}`;
  await writeFile(aside, bytes);
  await rename(aside, jar.path);
}

async function repositoryUrl(env: ServerEnvironment): Promise<string> {
  const url = env['MAVEN_URL'] ?? mirrorIn(await mavenSettings()) ?? MAVEN_CENTRAL;
  return url.replace(/\/+$/, '');
}

function mavenSettings(): Promise<string> {
  return readFile(join(homedir(), '.m2', 'settings.xml'), 'utf8').catch(() => '');
}

/** The mirror of Maven Central in Maven's settings. */
export function mirrorIn(settings: string): string | undefined {
  const text = settings.replaceAll(/<!--[\s\S]*?-->/g, '');
  for (const [, mirror = ''] of text.matchAll(/<mirror>([\s\S]*?)<\/mirror>/g)) {
    const of = /<mirrorOf>\s*([^<]*?)\s*<\/mirrorOf>/.exec(mirror)?.[1]?.split(',') ?? [];
    const isCentral = of.some((id) => ['*', 'external:*', 'central'].includes(id.trim()));
    const url = /<url>\s*(https?:[^<\s]+)\s*<\/url>/.exec(mirror)?.[1];
    if (isCentral && !of.includes('!central') && url !== undefined) return url;
  }
  return undefined;
}
