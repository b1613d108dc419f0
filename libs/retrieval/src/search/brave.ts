import { pagesIn } from './answer-reading.js';
import type { KeyedTerms, Provider, ProviderHeaders } from './provider.js';

/** Its longest page of results, and its longest query: one of more words is refused. */
const COUNT_AT_MOST = 20;
const WORDS_AT_MOST = 50;

/** The countries that it knows; another one is refused. */
const COUNTRIES = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(
    ' ',
  ),
);

/** The languages that it knows, in its own names; another one is refused. */
const LANGUAGES = new Set(
  (
    'ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it jp kn ko lv lt ms ml mr ' +
    'nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi'
  ).split(' '),
);

/** Those of ISO 639 that it has other names for. */
const RENAMED: Readonly<Record<string, string>> = {
  ja: 'jp',
  zh: 'zh-hans',
  pt: 'pt-pt',
  no: 'nb',
  nn: 'nb',
};
const REGIONAL: Readonly<Record<string, string>> = {
  'en-GB': 'en-gb',
  'pt-BR': 'pt-br',
  'zh-HK': 'zh-hant',
  'zh-MO': 'zh-hant',
  'zh-TW': 'zh-hant',
};

/** Brave Search: `GET /res/v1/web/search`. */
export function brave({ name, deadlineMs, url, key, region, language }: KeyedTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text, count }) => {
      const spoken = language && languageOf(language, region);
      const query = new URLSearchParams({
        q: text.split(/\s+/).slice(0, WORDS_AT_MOST).join(' '),
        count: String(Math.min(count, COUNT_AT_MOST)),
        // Bold words are markup.
        text_decorations: 'false',
        result_filter: 'web',
        ...(region && COUNTRIES.has(region) && { country: region }),
        ...(spoken && { search_lang: spoken }),
      });
      return {
        method: 'GET',
        url: `${url ?? 'https://api.search.brave.com'}/res/v1/web/search?${query.toString()}`,
        headers: { 'x-subscription-token': key },
      };
    },
    restSeconds,
    read: (answer) =>
      pagesIn(answer, ['web', 'results']).map((page) => {
        const { title, url: address, description, extra_snippets: more } = page;
        const texts = [description, ...(Array.isArray(more) ? (more as unknown[]) : [])];
        const content = texts.filter((each) => typeof each === 'string').join(' ');
        return { title, url: address, content, date: page['page_age'] ?? page['age'] };
      }),
  };
}

/** Its own name of a language, where it knows the language. */
function languageOf(language: string, region = ''): string | undefined {
  const name = REGIONAL[`${language}-${region}`] ?? RENAMED[language] ?? language;
  return LANGUAGES.has(name) ? name : undefined;
}

/** Of several windows, a second and a month, each with what is left in it: the longest that is used up. */
function restSeconds(headers: ProviderHeaders): number | undefined {
  const left = numbersIn(headers['x-ratelimit-remaining']);
  const resets = numbersIn(headers['x-ratelimit-reset']).filter((_, index) => left[index] === 0);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

function numbersIn(value: string | string[] | undefined): number[] {
  return typeof value === 'string' ? value.split(',').map(Number) : [];
}
