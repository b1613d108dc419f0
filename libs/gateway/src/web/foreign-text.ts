/** Names of tags by which chat templates and agents tell roles, thoughts and calls apart. */
const TAGS = [
  's',
  'think(?:ing)?',
  'system',
  'user',
  'assistant',
  'tools?',
  'tool_?(?:call|response|result|use|code|output)s?',
  'function(?:_?(?:call|result|response|output))?s?',
  'invoke',
  'parameter',
  'start_of_turn',
  'end_of_turn',
  'im_(?:start|end)',
  'bos',
  'eos',
  'antml',
].join('|');

const BRACKETED = [
  'inst',
  'tool_calls',
  'tool_results',
  'available_tools',
  'system_prompt',
  'args',
  'call_id',
  'ref',
].join('|');

/**
 * Where a text could be taken for more than text: control tokens of chat templates, tags and brackets of tool calls,
 * and the marks that stand around it here.
 */
const MARKS = new RegExp(
  `<(?=[|｜])|[|｜](?=>)|<(?=<?/?sys>)|<(?=[/\\s]{0,4}(?:${TAGS})\\b)|\\[(?=/?(?:${BRACKETED})\\b)|\\[(?=(?:end of )?web (?:results|pages))`,
  'gi',
);

/**
 * Text of strangers as it goes before a model. A space behind the first character of each mark takes it apart, and
 * can't make another one.
 */
export function foreignText(text: string): string {
  return text.replaceAll(MARKS, '$& ');
}
