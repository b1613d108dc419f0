import assert from 'node:assert';
import { isIP } from 'node:net';
import { isLocalName, isPublicAddress } from './blocked-addresses.js';
import { FetchRefused } from './fetch-refused.js';

/** Long enough for signed links to object storage. */
const MAX_URL_CHARACTERS = 8_192;

export interface Rules {
  /** Ports allowed for any host. */
  readonly ports: ReadonlySet<number>;
  /** Entries from `hostAndPort`: the hosts that an operator has exempted from the address check. */
  readonly exempt: ReadonlySet<string>;
}

/** The target of a URL, before any name lookup. */
export interface Target {
  readonly url: URL;
  /** A name, or an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Whether an operator has exempted this host and port. */
  readonly exempt: boolean;
}

/** Parses a URL as WHATWG does, which normalizes every notation of an IPv4 address. Throws FetchRefused. */
export function targetOf(text: string, rules: Rules, base?: URL): Target {
  if (text.length > MAX_URL_CHARACTERS || hasControls(text)) throw new FetchRefused('url');
  const url = URL.parse(text, base?.href);
  if (!url) throw new FetchRefused('url');
  url.hash = '';
  if (url.href.length > MAX_URL_CHARACTERS) throw new FetchRefused('url');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new FetchRefused('scheme');
  if (url.username || url.password) throw new FetchRefused('credentials');

  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const exempt = rules.exempt.has(`${url.hostname}:${port}`);
  if (!exempt) checkHost(host);
  if (!exempt && !rules.ports.has(port)) throw new FetchRefused('port');
  return { url, host, port, exempt };
}

/** IP literals skip the name lookup, so they are checked here. */
function checkHost(host: string): void {
  if (isIP(host) !== 0) {
    if (!isPublicAddress(host)) throw new FetchRefused('address');
    return;
  }
  if (isLocalName(host.replace(/\.+$/, ''))) throw new FetchRefused('address');
  if (host.endsWith('.')) throw new FetchRefused('url');
}

/** WHATWG silently drops tabs and line ends; no legitimate URL has them. */
function hasControls(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** Normalizes a settings entry, `name:port`, `1.2.3.4:port` or `[::1]:port`, for comparison with targets. */
export function hostAndPort(entry: string): string {
  const match = /^(.+):(\d{1,5})$/.exec(entry);
  const url = match ? URL.parse(`http://${match[1]}/`) : null;
  assert(match && url?.href === `http://${url?.hostname}/`, `"${entry}" is not host:port`);
  return `${url.hostname}:${Number(match[2])}`;
}
