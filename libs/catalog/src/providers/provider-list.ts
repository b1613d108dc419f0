import { RESPONSE_JSON_LIMITS, StartFault, boundedJson } from '@svc/runtime';
import { boundedText } from '../bounded-text.js';
import type { ListPage, ListedModel } from './listed-model.js';
import { type ListedKind, PROVIDER_FORMS, type ProviderForm } from './provider-forms.js';

/** Deadline of one page. */
const PAGE_MS = 30_000;

const MOST_PAGE_BYTES = 32 * 1_048_576;

/** A list with more pages does not end. */
const MOST_PAGES = 20;

/** A provider whose models are to be listed. */
export interface HostedProvider {
  readonly kind: ListedKind;
  /** The base of its API. */
  readonly url: string;
  readonly apiKey: string;
}

/** The models that a key can use. Throws StartFault if the provider refuses the key or sends no list. */
export async function listModels({ kind, url, apiKey }: HostedProvider): Promise<readonly ListedModel[]> {
  const form: ProviderForm = PROVIDER_FORMS[kind];
  const base = (form.listBase?.(url) ?? url).replace(/\/$/, '');
  const models: ListedModel[] = [];
  let next: string | undefined = form.path;
  for (let pages = 0; next !== undefined; pages += 1) {
    if (pages === MOST_PAGES) throw new StartFault(`${base}: its list of models has no end`);
    const page: ListPage = await readPage(`${base}${next}`, form, apiKey);
    models.push(...page.models);
    ({ next } = page);
  }
  return models;
}

async function readPage(url: string, form: ProviderForm, apiKey: string): Promise<ListPage> {
  // The query has nothing that helps, and an error should not contain what it is made of.
  const place = url.split('?')[0] ?? url;
  const response = await fetch(url, {
    headers: { accept: 'application/json', ...form.headers(apiKey) },
    redirect: 'error',
    signal: AbortSignal.timeout(PAGE_MS),
  }).catch((error: unknown) => {
    throw new StartFault(`${place} does not respond`, { cause: error });
  });
  if (response.status === 401 || response.status === 403)
    throw new StartFault(`${place} refuses the key (${response.status})`);
  if (response.status !== 200) throw new StartFault(`${place} responds with ${response.status}`);
  const text = await boundedText(response, MOST_PAGE_BYTES).catch((error: unknown) => {
    throw new StartFault(`${place} does not complete its list of models`, { cause: error });
  });
  if (text === undefined) throw new StartFault(`${place} has a list of more than ${MOST_PAGE_BYTES} bytes`);
  try {
    return form.page(boundedJson(text, RESPONSE_JSON_LIMITS));
  } catch (error) {
    throw new StartFault(`${place} is no list of models of this kind of provider`, { cause: error });
  }
}
