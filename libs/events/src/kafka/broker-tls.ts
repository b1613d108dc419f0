import { X509Certificate, createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { StartFault } from '@svc/runtime';

/** The PEM files of TLS to the brokers. */
export interface TlsFiles {
  /** The authorities of the brokers' certificates; default: those of Node. */
  readonly KAFKA_CA_FILE?: string | undefined;
  /** The certificate by which this process authenticates, and its key. */
  readonly KAFKA_CERT_FILE?: string | undefined;
  readonly KAFKA_KEY_FILE?: string | undefined;
}

/** Their contents, as options of `tls.connect`. */
export interface TlsOptions {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

const CHECKS: Readonly<Record<keyof TlsFiles, (pem: string) => unknown>> = {
  KAFKA_CA_FILE: (pem) => new X509Certificate(pem),
  KAFKA_CERT_FILE: (pem) => new X509Certificate(pem),
  KAFKA_KEY_FILE: (pem) => createPrivateKey(pem),
};

/**
 * Options that are read from the files for each connection, so that a renewed certificate needs no restart.
 * Throws if a file is invalid now.
 */
export function brokerTls(files: TlsFiles): TlsOptions {
  const { KAFKA_CA_FILE: ca, KAFKA_CERT_FILE: cert, KAFKA_KEY_FILE: key } = files;
  for (const setting of Object.keys(CHECKS) as (keyof TlsFiles)[]) check(setting, files[setting]);
  if (cert === undefined && key === undefined) return readLazily({ ca });
  if (cert === undefined) throw new StartFault('KAFKA_CERT_FILE is not set, which KAFKA_KEY_FILE needs');
  if (key === undefined) throw new StartFault('KAFKA_KEY_FILE is not set, which KAFKA_CERT_FILE needs');
  if (!new X509Certificate(read(cert)).checkPrivateKey(createPrivateKey(read(key))))
    throw new StartFault('KAFKA_KEY_FILE: is not the key of the certificate in KAFKA_CERT_FILE');
  return readLazily({ ca, cert, key });
}

const read = (file: string): string => readFileSync(file, 'utf8');

function check(setting: keyof TlsFiles, file: string | undefined): void {
  if (file === undefined) return;
  try {
    CHECKS[setting](read(file));
  } catch (error) {
    throw new StartFault(`${setting}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

/** kafkajs copies the options when it connects, which calls the getters. */
function readLazily(files: Readonly<Record<string, string | undefined>>): TlsOptions {
  const options: TlsOptions = {};
  for (const [name, file] of Object.entries(files))
    if (file !== undefined) Object.defineProperty(options, name, { enumerable: true, get: () => read(file) });
  return options;
}
