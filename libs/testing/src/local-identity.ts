import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { generate } from 'selfsigned';

/** A key and a certificate for servers of this machine, as PEM. */
export interface LocalIdentity {
  readonly key: string;
  readonly cert: string;
  /** Makes this process trust it, like `NODE_EXTRA_CA_CERTS` at start-up; the returned function ends that. */
  trust(): () => void;
}

export async function localIdentity(): Promise<LocalIdentity> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const trust = (): (() => void) => {
    const before = getCACertificates('default');
    setDefaultCACertificates([...before, cert]);
    return () => setDefaultCACertificates(before);
  };
  return { key, cert, trust };
}
