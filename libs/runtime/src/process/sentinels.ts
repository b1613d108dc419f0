const URL_FORM =
  /^(rediss?)\+sentinel:\/\/(?:([^@/?]*)@)?([^@/?]+)\/([\w.-]+)(?:\/(\d{1,4}))?(?:\?sentinelPassword=([^&]+))?$/;

const HOST_FORM = /^([\w.-]+|\[[\da-f:]+\])(?::(\d{1,5}))?$/i;

const SENTINEL_PORT = 26_379;

/** A Redis whose master is found by asking its Sentinels. */
export interface SentinelAddress {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** The name of the master at the Sentinels. */
  readonly master: string;
  readonly database: number;
  readonly username: string;
  readonly password: string;
  /** Of the Sentinels; empty if they have none. */
  readonly sentinelPassword: string;
  readonly isTls: boolean;
}

/**
 * Reads `redis+sentinel://[user:password@]host[:port],…/master[/database][?sentinelPassword=…]`; `rediss` is
 * over TLS. `undefined` for everything else.
 */
export function sentinelAddress(url: string): SentinelAddress | undefined {
  const [, scheme, credentials = '', hosts = '', master = '', database = '0', sentinelPassword = ''] =
    URL_FORM.exec(url) ?? [];
  const sentinels = hosts.split(',').map((each) => HOST_FORM.exec(each.trim()));
  const colon = credentials.indexOf(':');
  const [username, password] =
    colon < 0 ? [credentials, ''] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
  const decoded = [username, password, sentinelPassword].map((text) => decodedPart(text));
  if (scheme === undefined || sentinels.includes(null) || decoded.includes(undefined)) return undefined;
  return {
    sentinels: sentinels.map((found) => ({
      host: (found?.[1] ?? '').replaceAll(/[[\]]/g, ''),
      port: Number(found?.[2] ?? SENTINEL_PORT),
    })),
    master,
    database: Number(database),
    username: decoded[0] ?? '',
    password: decoded[1] ?? '',
    sentinelPassword: decoded[2] ?? '',
    isTls: scheme === 'rediss',
  };
}

/** `undefined` if a percent sign begins no encoded byte. */
function decodedPart(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
