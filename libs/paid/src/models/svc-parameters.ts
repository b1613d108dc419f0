import type { Model } from '@svc/catalog';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { SVC_DEFAULTS, SvcParameters, type SvcParametersEcho } from '@svc/api/chat';

/** Parameters that are allowed after a model's name. */
const SUFFIX_KEYS = new Set([
  'enable_web_search',
  'enable_web_citations',
  'enable_web_scraping',
  'enable_x_search',
  'include_venice_system_prompt',
  'include_svc_system_prompt',
  'include_search_results_in_stream',
  'return_search_results_as_documents',
  'character_slug',
  'strip_thinking_response',
  'disable_thinking',
]);

const SUFFIX = /^(.+?):(\w+=.*)$/s;

export interface NamedModel {
  readonly name: string;
  readonly parameters: Record<string, unknown>;
}

/**
 * Splits `<model>:<key>=<value>[&<key>=<value>…]`. Values are URL-decoded; unknown keys are dropped. Takes
 * quadratic time, but the schema bounds the length of the text.
 */
export function splitModelName(text: string): NamedModel {
  const match = SUFFIX.exec(text);
  const [, name, suffix] = match ?? [];
  if (name === undefined || suffix === undefined) return { name: text, parameters: {} };
  const parameters: Record<string, unknown> = {};
  for (const [key, value] of new URLSearchParams(suffix)) {
    if (SUFFIX_KEYS.has(key)) parameters[key] = value === 'true' ? true : value === 'false' ? false : value;
  }
  return { name, parameters };
}

/**
 * The options in effect. The suffix takes precedence over the body, and the body over the defaults. Refuses:
 * INVALID_REQUEST for a value in the suffix.
 */
export function effectiveParameters(
  body: SvcParameters | null | undefined,
  suffix: Record<string, unknown>,
): SvcParametersEcho {
  if (!body && Object.keys(suffix).length === 0) return DEFAULTS;
  const read = SvcParameters.safeParse(suffix);
  if (!read.success) {
    const issues = read.error.issues.map(({ code, path, message }) => ({
      code,
      path: ['model'],
      message: `model suffix: ${path.join('.')}: ${message}`,
    }));
    throw invalidRequest(issues);
  }
  return inEffect(body, read.data);
}

function inEffect(body: SvcParameters | null | undefined, suffix: SvcParameters): SvcParametersEcho {
  const given = { ...body, ...suffix };
  // The suffix takes precedence under either name of the switch.
  const housePrompts =
    suffix.include_venice_system_prompt ??
    suffix.include_svc_system_prompt ??
    body?.include_venice_system_prompt ??
    body?.include_svc_system_prompt ??
    SVC_DEFAULTS.include_venice_system_prompt;
  return {
    // True only for a request whose texts are encrypted, which is decided later.
    enable_e2ee: false,
    enable_web_search: given.enable_web_search ?? SVC_DEFAULTS.enable_web_search,
    enable_web_citations: given.enable_web_citations ?? SVC_DEFAULTS.enable_web_citations,
    enable_web_scraping: given.enable_web_scraping ?? SVC_DEFAULTS.enable_web_scraping,
    enable_x_search: given.enable_x_search ?? SVC_DEFAULTS.enable_x_search,
    include_venice_system_prompt: housePrompts,
    include_search_results_in_stream:
      given.include_search_results_in_stream ?? SVC_DEFAULTS.include_search_results_in_stream,
    return_search_results_as_documents:
      given.return_search_results_as_documents ?? SVC_DEFAULTS.return_search_results_as_documents,
    strip_thinking_response: given.strip_thinking_response ?? SVC_DEFAULTS.strip_thinking_response,
    disable_thinking: given.disable_thinking ?? SVC_DEFAULTS.disable_thinking,
    ...(typeof given.character_slug === 'string' && { character_slug: given.character_slug }),
    web_search_citations: [],
  };
}

/** Those of a request that says nothing of them. */
const DEFAULTS = inEffect(undefined, {});

/**
 * Refuses unavailable searches: NOT_AVAILABLE if this deployment has no web search, INVALID_REQUEST if the
 * model's provider has none. Both name the parameter.
 */
export function refuseUnavailable(
  { enable_web_search: searching, enable_x_search: searchesX }: SvcParametersEcho,
  { search, model }: { search: unknown; model: Pick<Model, 'id' | 'capabilities'> },
): void {
  if (searchesX && model.capabilities.supportsXSearch !== true) {
    const message = `${model.id} does not support enable_x_search`;
    throw invalidRequest([{ code: 'custom', path: ['svc_parameters', 'enable_x_search'], message }]);
  }
  // A search by the provider replaces a search by this service.
  if (searching === 'off' || search !== undefined || searchesX) return;
  throw new Problem('NOT_AVAILABLE', {
    param: 'svc_parameters.enable_web_search',
    message: 'enable_web_search is not available on this deployment.',
  });
}
