/** stable-diffusion.cpp reads settings from this tag in a prompt, steps and sizes among them. */
const SETTINGS_TAG = /sd_cpp_extra_args/gi;

/** Tags by which it and the web UI load other networks. */
const NETWORK_TAG = /<(?=\s*(?:lora|lyco|hypernet)\s*:)/gi;

/** A prompt whose tags are plain words. */
export function withoutTags(prompt: string): string {
  return prompt.replaceAll(SETTINGS_TAG, 'sd cpp extra args').replaceAll(NETWORK_TAG, '(');
}
