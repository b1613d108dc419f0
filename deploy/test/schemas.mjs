// JSON Schemas for kubeconform, of Kubernetes and third-party resources, from the descriptions in their own
// modules. Unknown members are refused.
import { readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** The modules, their versions, and the paths of the descriptions. */
export const DESCRIPTIONS = [
  ['k8s.io/kubernetes', 'v1.36.2', 'api/openapi-spec/swagger.json'],
  ['sigs.k8s.io/gateway-api', 'v1.4.0', 'config/crd/standard'],
  ['github.com/prometheus-operator/prometheus-operator', 'v0.85.0', 'example/prometheus-operator-crd'],
  ['github.com/kedacore/keda/v2', 'v2.21.0', 'config/crd/bases'],
  ['github.com/cloudnative-pg/cloudnative-pg', 'v1.26.0', 'config/crd/bases'],
];

/** The Kubernetes API groups that charts use. */
const GROUPS = ['', 'apps', 'batch', 'policy', 'autoscaling', 'networking.k8s.io', 'scheduling.k8s.io'];

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** Adds that unknown members are refused. */
function strict(schema) {
  const { $ref, type, properties, items, additionalProperties: others, required, enum: values } = schema;
  if ($ref) return { $ref };
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string')
    return { type: ['string', 'integer'] };
  if (schema['x-kubernetes-preserve-unknown-fields']) return {};
  return {
    ...(type && { type }),
    ...(values && { enum: values }),
    ...(required && { required }),
    ...(items && { items: strict(items) }),
    ...(properties && { properties: mapValues(properties, strict), additionalProperties: false }),
    ...(typeof others === 'object' && { additionalProperties: strict(others) }),
  };
}

const fileOf = ({ group, version, kind }) =>
  `${[kind, group.split('.')[0], version].filter(Boolean).join('-').toLowerCase()}.json`;

/** The transitive dependencies of a definition, including itself. */
function closure(name, definitions, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, next] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g))
    closure(next, definitions, found);
  return found;
}

/** Quantities may be numbers. */
const isQuantity = (name) => name.endsWith('.resource.Quantity');

function ofSwagger(text) {
  const { definitions: given } = JSON.parse(text);
  const definitions = Object.fromEntries(
    Object.entries(given).map(([name, definition]) => [
      name,
      isQuantity(name) ? { type: ['string', 'number'] } : strict(definition),
    ]),
  );
  return Object.entries(given).flatMap(([name, definition]) =>
    (definition['x-kubernetes-group-version-kind'] ?? [])
      .filter(({ group }) => GROUPS.includes(group))
      .map((of) => {
        const needed = [...closure(name, definitions)].map((one) => [one, definitions[one]]);
        return [fileOf(of), { $ref: `#/definitions/${name}`, definitions: Object.fromEntries(needed) }];
      }),
  );
}

function ofCustomResource(text) {
  const kinds = parseAllDocuments(text).map((document) => document.toJS());
  return kinds
    .filter((one) => one?.kind === 'CustomResourceDefinition')
    .flatMap(({ spec: { group, names, versions } }) =>
      versions.map(({ name: version, schema }) => {
        const made = strict(schema.openAPIV3Schema);
        made.properties.metadata = {};
        return [fileOf({ group, version, kind: names.kind }), made];
      }),
    );
}

/** Converts the descriptions of a file or folder to schemas in another folder. */
export async function writeSchemas(path, folder) {
  if ((await stat(path)).isDirectory()) {
    for (const name of await readdir(path)) {
      if (name.includes('_')) await writeSchemas(join(path, name), folder);
    }
    return;
  }
  const text = await readFile(path, 'utf8');
  const schemas = path.endsWith('.json') ? ofSwagger(text) : ofCustomResource(text);
  await Promise.all(schemas.map(([name, schema]) => writeFile(join(folder, name), JSON.stringify(schema))));
}
