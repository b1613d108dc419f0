import { jsonMembers, jsonObject } from './json-members.js';
import { foldedName } from './shape.js';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * Members of requests that steer the model server instead of the model, in vLLM, SGLang, llama.cpp,
 * TensorRT-LLM, TGI, Ollama, LiteLLM, OpenRouter and transformers: where it connects to, with which key, and
 * what it loads; whom it serves first, and whose cache, slot or session it uses; which code, template or
 * pattern it runs; requests inside of the request; prompts beside the one that is counted; output that is not
 * counted; and searches that the provider charges. Written without case and marks, since some servers ignore
 * these.
 */
const STEERING: ReadonlySet<string> = new Set(
  words(`
  apibase baseurl apikey apiversion apitype deploymentid organization headers extraheaders extraquery defaultheaders
  customllmprovider userconfig modellist modelinfo modelgroup routersettingsoverride regionname allowedmodelregion
  sslverify httpworkeripc proxyserverrequest secretfields hfmodelname adapter adapters adapterid controlvectors
  priority servicetier schedulingpolicy schedulingparams agenthierarchy arrivaltime routingkey provider providers
  route models preset plugins transforms contextwindowfallbacks contentpolicyfallbacks numretries maxretries
  timeout streamtimeout requesttimeout mocktimeout mockresponse mocktoolcalls guardrails policies tags callbacks
  successcallback failurecallback hooks nolog nologs logmetrics customlabels externaltraceheader traceheaders
  rid requestid sessionid sessionparams conversationid conversationparams conversation previousresponseid background
  backendinstanceid dataparallelrank dprank routeddprank decodetpsize idslot slotid
  cache caching cachesalt cacheprompt extrakey ncachereuse usecache kvcacheretentionconfig keepalive
  chattemplate prompttemplate template promptid promptvariables customroles rolemapping processorkwargs
  customlogitprocessor customparams logitsprocessor logitsprocessors logitsprocessorsargs samplingparamsplugin
  guideddecodingbackend structuredoutputsbackend backendsampling stopregex grammarlazy chatformat chatparser
  mmprocessorkwargs mediaiokwargs multimodaldata multimodaluuids multimodalinputs multimodalprompt mmdata
  imagedata audiodata videodata promptembeds inputembeds inputids prompttokenids inputprefix inputsuffix inputextra
  positionalembedoverrides modality
  streaminterval returnhiddenstates returnroutedexperts returnindexertopk returnlogits returncontextlogits
  returngenerationlogits returnencoderoutput returnprompttext responsefields
  extrabody extraargs extraparams nvext options parameters generationconfig samplingparams modelkwargs optionalparams
  dropparams additionaldropparams allowedopenaiparams providerspecificheader vllmxargs
  embeddtype outputdtype endianness websearchoptions searchparameters enablesearch
  `),
);

/** How the names of further such members begin. */
const STEERING_PREFIXES = words(
  'lora bootstrap kvtransfer ectransfer disagg mooncake speculative litellm aws vertex azure sglang',
);

/** A name without case and marks. */
const plainName = (name: string): string => foldedName(name).replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Whether a member steers the model server instead of the model. */
export function isSteering(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const plain = plainName(name);
  const steers = STEERING.has(plain) || STEERING_PREFIXES.some((prefix) => plain.startsWith(prefix));
  if (judged.size < MOST_JUDGED && name.length <= LONGEST_JUDGED) judged.set(name, steers);
  return steers;
}

/** The first names of clients and what they do, since requests have the same ones again and again. */
const judged = new Map<string, boolean>();
const MOST_JUDGED = 1_000;
const LONGEST_JUDGED = 64;

interface Permissive {
  /** The members that the catalogue lets through. */
  readonly extraFields: readonly string[];
}

/** The members of a request that a backend may get. */
export function withoutSteering<Value>(
  members: Readonly<Record<string, Value>>,
  { extraFields }: Permissive,
): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(members).filter(([name]) => !isSteering(name) || extraFields.includes(name)),
  );
}

/** Removes the members that a backend must not get from those of a chat. */
export function dropSteering(members: Map<string, string>, { extraFields }: Permissive): void {
  for (const name of members.keys())
    if (isSteering(name) && !extraFields.includes(name)) members.delete(name);
  const given = members.get(TEMPLATE_ARGUMENTS);
  if (given !== undefined) members.set(TEMPLATE_ARGUMENTS, withoutRendering(given));
}

const TEMPLATE_ARGUMENTS = 'chat_template_kwargs';

/**
 * Arguments of the function that renders a chat template in transformers. The rest are variables of the
 * template, such as `enable_thinking`.
 */
const RENDERING: ReadonlySet<string> = new Set(
  words(`
  conversation messages tools documents chattemplate template addgenerationprompt continuefinalmessage tokenize
  tokenizer padding truncation maxlength returntensors returndict returnassistanttokensmask tokenizerkwargs
  processorkwargs loadaudiofromvideo samplingrate videoloadbackend
  `),
);

function withoutRendering(text: string): string {
  if (!text.startsWith('{')) return '{}';
  const members = jsonMembers(text);
  for (const name of members.keys()) if (RENDERING.has(plainName(name))) members.delete(name);
  return jsonObject(members);
}
