import type { Cost } from '@svc/api/chat';
import type { ImageGenerationReply } from '@svc/api/images';
import { type ConvertedImage, dataUrl } from '@svc/media';

interface SoldFiles {
  readonly files: readonly ConvertedImage[];
  readonly format: ImageGenerationReply['output_format'];
  readonly cost: Cost;
}

/** A reply with OpenAI's members. */
export async function generationReply(
  { files, format, cost }: SoldFiles,
  isUrl: boolean,
): Promise<ImageGenerationReply> {
  const data = files.map(async ({ bytes }) =>
    isUrl ? { url: await dataUrl(`image/${format}`, bytes) } : { b64_json: base64Of(bytes) },
  );
  return {
    created: Math.floor(Date.now() / 1_000),
    data: await Promise.all(data),
    output_format: format,
    size: `${files[0]?.width}x${files[0]?.height}`,
    cost,
  };
}

export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}
