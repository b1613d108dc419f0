import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { textIn } from '../chat/backend-json.js';
import { unsupported } from '../chat/other-forms.js';

/** Where the provider keeps a prefix of a prompt in its cache. */
function cachePoint({ cache_control: control }: Fields): Fields[] {
  if (!isFields(control)) return [];
  return [{ cachePoint: { type: 'default', ...(control['ttl'] === '1h' && { ttl: '1h' }) } }];
}

/** Names of documents have few characters, and none is a name of a client's file. */
const DOCUMENT_NAME = 'document';

function imageOf(source: Fields): Fields {
  if (source['type'] !== 'base64') throw unsupported('this model takes images as data URLs only', 'messages');
  const format = textIn(source['media_type']).replace('image/', '');
  return { image: { format, source: { bytes: source['data'] } } };
}

function documentOf(source: Fields, count: number): Fields {
  const name = `${DOCUMENT_NAME}-${count}`;
  const data = textIn(source['data']);
  switch (source['type']) {
    case 'base64':
      return { document: { format: 'pdf', name, source: { bytes: data } } };
    case 'text':
      return { document: { format: 'txt', name, source: { bytes: Buffer.from(data).toString('base64') } } };
    default:
      throw unsupported('this model takes files as data URLs only', 'messages');
  }
}

/** Writes the blocks of a conversation; documents are numbered over all of them. */
class BlockWriter {
  private documents = 0;

  contentOf(blocks: unknown): Fields[] {
    return fieldsOf(blocks).flatMap((block) => [...this.blockOf(block), ...cachePoint(block)]);
  }

  private blockOf(block: Fields): Fields[] {
    const source = isFields(block['source']) ? block['source'] : {};
    switch (block['type']) {
      case 'text':
        return textIn(block['text']).trim() === '' ? [] : [{ text: block['text'] }];
      case 'image':
        return [imageOf(source)];
      case 'document':
        return [documentOf(source, (this.documents += 1))];
      case 'tool_use':
        return [{ toolUse: { toolUseId: block['id'], name: block['name'], input: block['input'] } }];
      case 'tool_result': {
        const content = this.contentOf(block['content']);
        return [{ toolResult: { toolUseId: block['tool_use_id'], content } }];
      }
      case 'thinking': {
        const { thinking: text, signature } = block;
        return [{ reasoningContent: { reasoningText: { text, signature } } }];
      }
      case 'redacted_thinking':
        return [{ reasoningContent: { redactedContent: block['data'] } }];
      default:
        return [];
    }
  }
}

function toolsOf({ tools, tool_choice: choice }: Fields, hasCalls: boolean): Fields {
  const specs = fieldsOf(tools).flatMap((tool) => {
    const { name, description, input_schema: json } = tool;
    const toolSpec = { name, ...(description !== undefined && { description }), inputSchema: { json } };
    return [{ toolSpec }, ...cachePoint(tool)];
  });
  const { type, name } = isFields(choice) ? choice : {};
  // It has no way to forbid calls, and needs the tools of calls that are in the conversation.
  if (specs.length === 0 || (type === 'none' && !hasCalls)) return {};
  const choices: Readonly<Record<string, Fields>> = {
    any: { any: {} },
    tool: { tool: { name } },
    auto: { auto: {} },
  };
  const toolChoice = choices[textIn(type)];
  return { toolConfig: { tools: specs, ...(toolChoice && { toolChoice }) } };
}

/** The members for the effort and the form of the output. */
function outputOf({ output_config: config }: Fields, isClaude: boolean): Fields {
  const { effort, format } = isFields(config) ? config : {};
  const schema = isFields(format) ? format['schema'] : undefined;
  const jsonSchema = { name: 'response', schema: JSON.stringify(schema) };
  const outputConfig = {
    ...(schema !== undefined && { textFormat: { type: 'json_schema', structure: { jsonSchema } } }),
    ...(isClaude && effort !== undefined && { effort }),
  };
  return Object.keys(outputConfig).length === 0 ? {} : { outputConfig };
}

function inferenceConfig(request: Fields): Fields {
  const { max_tokens: maxTokens, temperature, top_p: topP, stop_sequences: stopSequences } = request;
  return {
    maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stopSequences !== undefined && { stopSequences }),
  };
}

/**
 * The request in the form of Bedrock's Converse, from one in that of Anthropic's Messages API, which has the
 * same parts. `isClaude` says whether the model takes Claude's own members.
 */
export function converseRequest(request: Fields, isClaude: boolean): Fields {
  const writer = new BlockWriter();
  const system = writer.contentOf(request['system']);
  const messages = fieldsOf(request['messages']).map(({ role, content }) => ({
    role,
    content: writer.contentOf(content),
  }));
  const hasCalls = messages.some(({ content }) => content.some((block) => 'toolUse' in block));
  const { thinking, top_k: topK } = request;
  const own = {
    ...(thinking !== undefined && { thinking }),
    ...(topK !== undefined && { top_k: topK }),
  };
  return {
    ...(system.length > 0 && { system }),
    messages,
    inferenceConfig: inferenceConfig(request),
    ...toolsOf(request, hasCalls),
    ...outputOf(request, isClaude),
    ...(isClaude && Object.keys(own).length > 0 && { additionalModelRequestFields: own }),
  };
}
