import type { Catalog, LocalServer } from '@svc/catalog';
import type { FirstAccount } from '@svc/gateway';
import type { Running } from '@svc/runtime';

/** The addresses and accounts of the running platform. */
interface All {
  readonly running: Running;
  readonly account: FirstAccount | undefined;
  /** Whether the desk of operators is served. */
  readonly hasDesk: boolean;
  /** The secret of a link that signs in to the console as this account; none without the console. */
  readonly consoleLink: string | undefined;
  readonly dataDir: string;
  readonly operatorTokenFrom: string;
  readonly simulatorUrl: string | undefined;
  readonly localServers: readonly LocalServer[];
  readonly catalog: Catalog;
  readonly firstModel: string;
}

/** The text printed at the start: addresses, and commands for a first request. */
export function announcement(all: All): string {
  const { running, account, consoleLink, hasDesk, dataDir, simulatorUrl, localServers, catalog } = all;
  const { operatorUrl = '' } = running;
  const base = `${running.apiUrl}/api/v1`;
  const lines = [
    '',
    `  API            ${base}`,
    `  Operator API   ${operatorUrl}/operator/v1   token: ${all.operatorTokenFrom}`,
    ...(consoleLink === undefined
      ? []
      : [`  Console        ${pageUrl('/console', running.apiUrl)}#link=${consoleLink}`]),
    ...(hasDesk
      ? [`  Desk           ${pageUrl('/desk', operatorUrl)}   for operators, with their token`]
      : []),
    `  Data           ${dataDir}`,
    ...(simulatorUrl === undefined ? [] : [`  Simulator      ${simulatorUrl}`]),
    ...localServers.flatMap((server) => foundLines(server, catalog)),
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

/** Browsers keep the console's cookie only if they take the address for that of their own machine. */
function pageUrl(path: string, baseUrl: string): string {
  const url = new URL(path, baseUrl);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = 'localhost';
  return url.href;
}

/** At most this many skipped models are named; for the rest only their number is printed. */
const SKIPPED_SHOWN = 5;

/** Names from a model server are printed as JSON, so that they contain no terminal escape sequences. */
function foundLines({ name, url, models, skipped }: LocalServer, catalog: Catalog): string[] {
  const rest = skipped.length - SKIPPED_SHOWN;
  return [
    `  Found          ${name} at ${url}: ${models.map((id) => id + abilities(id, catalog)).join(', ') || 'no usable model'}`,
    ...skipped
      .slice(0, SKIPPED_SHOWN)
      .map((each) => `  Skipped        ${shownName(each.name)}: ${each.reason}`),
    ...(rest > 0 ? [`  Skipped        ${rest} more`] : []),
  ];
}

/** What a model is offered for in addition to chats. */
function abilities(id: string, catalog: Catalog): string {
  const model = catalog.find(id);
  if (model?.type === 'embedding') return ' (embeddings)';
  if (model?.type !== 'text') return '';
  const { supportsFunctionCalling: hasTools, supportsVision: hasVision } = model.capabilities;
  const names = [...(hasTools ? ['tools'] : []), ...(hasVision ? ['vision'] : [])];
  return names.length > 0 ? ` (${names.join(', ')})` : '';
}

function shownName(name: string): string {
  return JSON.stringify(name.slice(0, 100)).replace(/[^ -~]/g, '?');
}

function shownBefore(last6: string | undefined): string {
  return last6 === undefined ? 'revoked' : `…${last6} (its secret was shown at the first start only)`;
}
