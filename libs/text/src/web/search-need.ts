import type { ChatRequest } from '@svc/api/chat';
import { messageText } from './search-query.js';

/** A longer message, like one with code, brings its own subject matter. */
const TASK_CHARACTERS = 2_000;

/**
 * Words about things that change daily, and words that request a search. In scripts with spaces only whole
 * words, and none that are also common otherwise. Prefer false negatives: a missing search can be requested,
 * an unwanted one has already been charged.
 */
const WORDS = [
  // English
  'today|tonight|yesterday|tomorrow|latest|newest|breaking|headlines?|news|nowadays|currently|right now|up[- ]to[- ]date',
  'this (?:week|month|year|season)|(?:last|next) (?:week|month)|weather|forecast|stock price|share price|exchange rate',
  'search (?:the web|online|for)|look (?:it )?up|google|on the (?:web|internet)|online sources|cite (?:your )?sources',
  // German
  'heute|gestern|morgen früh|aktuelle[nrs]?|neueste[nrs]?|nachrichten|derzeit|wetter|aktienkurs|wechselkurs|im internet',
  'diese(?:r|s|n)? (?:woche|monat|jahr)',
  // French
  "aujourd['’]hui|hier soir|actuellement|dernières?|actualités?|météo|cours de l['’]action|sur internet|cette semaine",
  // Spanish and Portuguese
  'hoy|ayer|actualmente|últim[ao]s?|noticias|el tiempo|esta semana|en internet|hoje|ontem|atualmente|notícias|na internet',
  // Italian and Dutch
  'oggi|ieri|attualmente|ultim[eio] notizie|meteo|su internet|vandaag|gisteren|laatste nieuws|momenteel|op internet',
  // Russian, Ukrainian, Polish, Turkish
  'сегодня|вчера|сейчас|последние|новости|погода|сьогодні|новини|dzisiaj|wczoraj|najnowsze|wiadomości|pogoda|bugün|haberler',
].join('|');

const SPACED = new RegExp(`(?<![\\p{L}\\p{N}])(?:${WORDS})(?![\\p{L}\\p{N}])`, 'iu');

/** Japanese, Chinese, Korean, Arabic, Hindi: their words are not separated by spaces, or carry endings. */
const UNSPACED =
  /今日|昨日|最新|現在の|ニュース|天気|今天|昨天|目前|新闻|新聞|天气|오늘|어제|최신|현재|뉴스|날씨|اليوم|أمس|الأخبار|آخر|आज|ताज़ा|समाचार|मौसम/u;

const YEAR = /(?<![\p{L}\p{N}])(?:19|20)\d{2}(?![\p{L}\p{N}])/gu;

/**
 * Whether a conversation is likely to need the web, for requests that leave the decision to the service. True
 * if the last user message is short and without code, and mentions the present, last year or a later year, or
 * asks for a search.
 */
export function needsSearch(messages: ChatRequest['messages'], now: Date): boolean {
  const last = messages.findLast(({ role }) => role === 'user');
  const text = last ? messageText(last).normalize('NFC') : '';
  if (text.length > TASK_CHARACTERS || text.includes('```')) return false;
  if (SPACED.test(text) || UNSPACED.test(text)) return true;
  const years = text.match(YEAR) ?? [];
  return years.some(
    (year) => Number(year) >= now.getUTCFullYear() - 1 && Number(year) <= now.getUTCFullYear() + 10,
  );
}
