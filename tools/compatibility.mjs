// Generates docs/compatibility.md from the validation schemas; `--check` fails if it is stale. Needs the
// build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChatRequest } from '@svc/api/chat';
import { CompletionRequest } from '@svc/api/completions';
import { MessagesRequest } from '@svc/api/messages';
import { ResponseRequest } from '@svc/api/responses';
import { TREATMENTS, openApiDocument } from '@svc/openapi';

const path = 'docs/compatibility.md';
const file = join(import.meta.dirname, '..', path);
const { schemas } = openApiDocument({ audience: 'public', version: '' }).components;

const named = (schema) => (schema.$ref ? schemas[schema.$ref.split('/').at(-1)] : schema);
const optionsOf = ({ anyOf, oneOf }) => anyOf ?? oneOf;

/** A short description of the values that a schema accepts. */
function taken(schema) {
  if (schema.$ref) return `\`${schema.$ref.split('/').at(-1)}\`, below`;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum)
    return schema.enum
      .filter((value) => value !== null)
      .map((value) => JSON.stringify(value))
      .join(', ');
  const options = optionsOf(schema);
  if (options) return [...new Set(options.map(taken))].filter((text) => text !== '').join(' or ');
  const [type] = [schema.type].flat().filter((name) => name !== 'null');
  if (type === 'array') return `list of ${countOf(schema)}${taken(schema.items ?? {}) || 'anything'}`;
  if (type === 'object') return membersOf(schema);
  return `${type ?? ''}${rangeOf(schema)}`;
}

function membersOf({ properties, additionalProperties }) {
  if (properties)
    return `object of ${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`;
  const values = additionalProperties && taken(additionalProperties);
  return values ? `object of any names with ${values}` : 'object';
}

const countOf = ({ minItems = 0, maxItems }) =>
  maxItems === undefined ? '' : `${minItems} to ${maxItems}: `;

function rangeOf({ minimum, maximum, maxLength, format }) {
  if (minimum !== undefined && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER)
    return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER) return ` from ${minimum}`;
  if (maxLength !== undefined) return ` of at most ${maxLength} characters`;
  return format === 'int64' ? ' of 64 bits' : '';
}

/** Why a field is refused, as in the error message. */
function reasonOf(name, request) {
  const issues = request.safeParse({ [name]: 'x' }).error?.issues ?? [];
  return issues.find((issue) => issue.path[0] === name)?.message ?? '';
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const row = (cells) => `| ${cells.map(cell).join(' | ')} |`;
const table = (head, rows) => [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

function fields(schema, treatments, request) {
  const rows = Object.entries(schemas[schema].properties).map(([name, property]) => {
    const treatment = treatments[name];
    const isRefused = treatment === 'refused' && ['', '""'].includes(taken(property));
    return [
      `\`${name}\``,
      treatment,
      isRefused ? '' : taken(property),
      isRefused ? reasonOf(name, request) : (property.description ?? ''),
    ];
  });
  return table(['Field', 'Here', 'Takes', 'Meaning'], rows);
}

/** The members of each variant of a union, distinguished by its discriminator. */
function kinds(schema, by) {
  const rows = optionsOf(schemas[schema]).map((option) => {
    const { properties } = named(option);
    const members = Object.entries(properties).filter(([name]) => name !== by);
    return [
      taken(properties[by]),
      members.map(([name, member]) => `\`${name}\`: ${taken(member)}`).join('; '),
    ];
  });
  return table([by, 'Members'], rows);
}

const text = `# Compatibility

How each field of the endpoints for completions is handled. Generated from the validation schemas by \`npm run compatibility\`.

- **honoured**: this service implements it, for any backend.
- **passed on**: its type, range and length are checked here; its effect depends on the model's backend.
- **not used**: accepted, so that clients that always send it work, but not sent to backends.
- **refused**: the request gets a 400; its message names the alternative, and \`param\` the field.

\`null\` is the same as omitting an optional field. Unknown fields of the request are sent to the backend unchanged; unknown members
of the objects below are dropped. Names that differ from known ones only in letter case are refused.

## \`POST /chat/completions\`

${fields('ChatCompletionRequest', TREATMENTS.chat, ChatRequest)}

## \`svc_parameters\`

${fields('SvcParameters', TREATMENTS.svc)}

## Messages, by role

${kinds('Message', 'role')}

## Parts of a user message

${kinds('ContentPart', 'type')}

## \`POST /completions\`

${fields('CreateCompletionRequest', TREATMENTS.completion, CompletionRequest)}

## \`POST /responses\`

${fields('CreateResponseRequest', TREATMENTS.response, ResponseRequest)}

### Items of \`input\`

${kinds('InputItem', 'type')}

## \`POST /messages\`

Unknown members have no effect here: clients of Anthropic's API send many that only its own models know.

${fields('CreateMessageRequest', TREATMENTS.message, MessagesRequest)}

${readFileSync(join(import.meta.dirname, 'compatibility.md'), 'utf8')}`;

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.log(`${path}: does not match the schemas; update it with: npm run compatibility`);
  process.exitCode = 1;
}
