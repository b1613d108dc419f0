import { type KeyedTerms, type Provider, type ProviderHeaders, pagesIn } from './provider.js';

/** The most results per page, and the most words of a query: longer ones are rejected. */
const COUNT_AT_MOST = 20;
const WORDS_AT_MOST = 50;

/** The supported countries; any other is rejected. */
const COUNTRIES = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(
    ' ',
  ),
);

/** The supported languages, by Brave's own codes; any other is rejected. */
const LANGUAGES = new Set(
  (
    'ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it jp kn ko lv lt ms ml mr ' +
    'nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi'
  ).split(' '),
);

/** ISO 639 codes for which Brave has its own. */
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
export function brave({ name, deadlineMs, url, key, region: own, language }: KeyedTerms): Provider {
  return {
    name,
    deadlineMs,
    request: ({ text, count, country: region = own }) => {
      const spoken = language && languageOf(language, region);
      const query = new URLSearchParams({
        q: text.split(/\s+/).slice(0, WORDS_AT_MOST).join(' '),
        count: String(Math.min(count, COUNT_AT_MOST)),
        // Bold words would be markup.
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
    read: (response) =>
      pagesIn(response, ['web', 'results']).map((page) => {
        const { title, url: address, description, extra_snippets: more } = page;
        const texts = [description, ...(Array.isArray(more) ? (more as unknown[]) : [])];
        const content = texts.filter((each) => typeof each === 'string').join(' ');
        return { title, url: address, content, date: page['page_age'] ?? page['age'] };
      }),
  };
}

/** Brave's code of a language, if supported. */
function languageOf(language: string, region = ''): string | undefined {
  const name = REGIONAL[`${language}-${region}`] ?? RENAMED[language] ?? language;
  return LANGUAGES.has(name) ? name : undefined;
}

/** Of several quota windows, a second and a month, the longest that is exhausted. */
function restSeconds(headers: ProviderHeaders): number | undefined {
  const left = numbersIn(headers['x-ratelimit-remaining']);
  const resets = numbersIn(headers['x-ratelimit-reset']).filter((_, index) => left[index] === 0);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

function numbersIn(value: string | string[] | undefined): number[] {
  return typeof value === 'string' ? value.split(',').map(Number) : [];
}
