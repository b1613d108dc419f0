import { type MessageToolChoice, type MessagesRequest, isWebSearch } from '@svc/api/messages';
import { type JsonPart, elementsOf, listPart, membersOf, objectPart, partOf } from '@svc/paid/json';

/** The tools of a message as those of a chat completion. */
export interface TranslatedTools {
  /** `tools`, `tool_choice` and `parallel_tool_calls`. */
  readonly members: readonly (readonly [string, JsonPart | undefined])[];
  /** Where each tool was among the client's. */
  readonly origins: readonly number[];
  /** How to search the web; undefined without the web search tool. */
  readonly search: 'auto' | 'on' | 'off' | undefined;
}

/** The web search tool is left out, since this service searches in another way. */
export function translatedTools(
  { tools, tool_choice: choice }: Pick<MessagesRequest, 'tools' | 'tool_choice'>,
  given: JsonPart | undefined,
): TranslatedTools {
  const all = given ? elementsOf(given) : [];
  const origins = all.flatMap((_, index) => (isWebSearch(tools?.[index]?.type) ? [] : [index]));
  const searcher = tools?.find(({ type }) => isWebSearch(type));
  const isSearchNamed = searcher !== undefined && choice?.type === 'tool' && choice.name === searcher.name;
  const isOnly = searcher !== undefined && origins.length === 0;
  const parallel = choice && choice.type !== 'none' ? choice.disable_parallel_tool_use : undefined;
  const list = all.filter((_, index) => origins.includes(index)).map(functionTool);
  return {
    members: [
      ['tools', list.length > 0 ? listPart(list) : undefined],
      ['tool_choice', choice && !isSearchNamed && !isOnly ? choicePart(choice) : undefined],
      ['parallel_tool_calls', parallel === true && list.length > 0 ? partOf(false) : undefined],
    ],
    origins,
    search: searcher && searchMode(choice?.type, isSearchNamed, isOnly),
  };
}

function searchMode(
  choice: MessageToolChoice['type'] | undefined,
  isNamed: boolean,
  isOnly: boolean,
): 'auto' | 'on' | 'off' {
  if (choice === 'none') return 'off';
  return isNamed || (isOnly && choice === 'any') ? 'on' : 'auto';
}

function functionTool(tool: JsonPart): JsonPart {
  const members = membersOf(tool);
  const { strict } = tool.value as { readonly strict?: boolean | null };
  return objectPart([
    ['type', partOf('function')],
    [
      'function',
      objectPart([
        ['name', members.get('name')],
        ['description', members.get('description')],
        ['parameters', members.get('input_schema')],
        ['strict', typeof strict === 'boolean' ? partOf(strict) : undefined],
      ]),
    ],
  ]);
}

function choicePart(choice: MessageToolChoice): JsonPart {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return partOf(choice.type);
    case 'any':
      return partOf('required');
    case 'tool':
      return partOf({ type: 'function', function: { name: choice.name } });
  }
}
