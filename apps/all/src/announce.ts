import type { FirstAccount } from '@svc/gateway';
import type { Running } from '@svc/runtime';
import type { LocalServer } from './local-models.js';

/** Everything, running. */
interface All {
  readonly running: Running;
  readonly account: FirstAccount | undefined;
  readonly dataDir: string;
  readonly operatorTokenFrom: string;
  readonly simulatorUrl: string | undefined;
  readonly localServers: readonly LocalServer[];
  readonly firstModel: string;
}

/** What tells a newcomer where everything is and what to type first. */
export function announcement(all: All): string {
  const { running, account, dataDir, simulatorUrl, localServers, operatorTokenFrom } = all;
  const base = `${running.apiUrl}/api/v1`;
  const lines = [
    '',
    `  API            ${base}`,
    `  Operator API   ${running.operatorUrl ?? ''}/operator/v1   token: ${operatorTokenFrom}`,
    `  Data           ${dataDir}`,
    ...(simulatorUrl === undefined ? [] : [`  Simulator      ${simulatorUrl}`]),
    ...localServers.map(
      ({ name, url, models }) => `  Found          ${name} at ${url}: ${models.join(', ')}`,
    ),
    ...(account === undefined ? [] : [`  API key        ${account.apiKey ?? shownBefore(account.last6)}`]),
    '',
    '  Try:',
    '',
    `  curl ${base}/chat/completions \\`,
    `    -H "Authorization: Bearer ${account?.apiKey ?? '$SVC_API_KEY'}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "${all.firstModel}", "messages": [{"role": "user", "content": "Hello"}]}'`,
    '',
  ];
  return lines.join('\n');
}

function shownBefore(last6: string | undefined): string {
  return last6 === undefined ? 'revoked' : `…${last6} (its secret was shown at the first start)`;
}
