import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import { textIn } from '../chat/backend-json.js';
import { dataIn, unsupported } from '../chat/other-forms.js';

/** What a part of chat completions says about its place in the cache goes on to its block. */
function cached(part: Fields): Fields {
  return isFields(part['cache_control']) ? { cache_control: part['cache_control'] } : {};
}

function sourceOf(url: string): Fields {
  const data = dataIn(url);
  return data ? { type: 'base64', media_type: data.type, data: data.base64 } : { type: 'url', url };
}

function documentOf({ file_data: data, filename }: Fields): Fields {
  const source = sourceOf(textIn(data));
  if (source['media_type'] === 'text/plain') {
    const text = Buffer.from(textIn(source['data']), 'base64').toString('utf8');
    return { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text } };
  }
  if (source['type'] === 'base64' && source['media_type'] !== 'application/pdf')
    throw unsupported('files must be PDF or plain text for this model', 'messages');
  return { type: 'document', source, ...(textIn(filename) !== '' && { title: filename }) };
}

function blockOf(part: Fields): Fields[] {
  switch (part['type']) {
    case 'text':
      return textIn(part['text']) === '' ? [] : [{ type: 'text', text: part['text'], ...cached(part) }];
    case 'image_url': {
      const { image_url: image } = part;
      const url = isFields(image) ? textIn(image['url']) : textIn(image);
      return [{ type: 'image', source: sourceOf(url), ...cached(part) }];
    }
    case 'file':
      return [{ ...documentOf(isFields(part['file']) ? part['file'] : {}), ...cached(part) }];
    default:
      throw unsupported(`this model does not take ${String(part['type'])}`, 'messages');
  }
}

/** The blocks of a content, which is a text or a list of parts. */
export function blocksOf(content: unknown): Fields[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return fieldsOf(content).flatMap(blockOf);
}
