import { z } from 'zod';
import type { RouteDefinition } from '../route/route-definition.js';
import {
  ImageCutoutRequest,
  ImageEditRequest,
  ImageEditsRequest,
  ImageGenerationReply,
  ImageGenerationRequest,
  ImageMultiEditRequest,
  ImageReply,
  ImageRequest,
  ImageStyleList,
  ImageUpscaleRequest,
} from './images.js';

const terms = {
  method: 'POST',
  tag: 'Image',
  access: 'key-or-wallet',
  status: 200,
  admitted: 'once',
  passesBody: true,
  headers: ['model', 'balances', 'content'],
  refusals: [
    'INVALID_JSON',
    'INVALID_REQUEST',
    'PRO_ONLY_MODEL',
    'MODEL_NOT_ALLOWED',
    'INSUFFICIENT_BALANCE',
    'API_KEY_USD_SPEND_LIMIT_EXCEEDED',
    'API_KEY_DIEM_SPEND_LIMIT_EXCEEDED',
    'END_USER_SPEND_LIMIT_EXCEEDED',
    'UNAUTHORIZED',
    'MODEL_NOT_FOUND',
    'MODEL_RETIRED',
    'PAYLOAD_TOO_LARGE',
    'INVALID_CONTENT_TYPE',
    'CONTENT_POLICY_VIOLATION',
    'RATE_LIMIT_EXCEEDED',
    'INFERENCE_FAILED',
    'MODEL_OFFLINE',
    'MODEL_AT_CAPACITY',
    'UNAVAILABLE',
    'REQUEST_TIMEOUT',
  ],
} as const;

/** Two files of the largest size and a mask, or more smaller ones. */
const EDIT_LIMIT_BYTES = 83_886_080;

const editTerms = {
  ...terms,
  bodyType: ['application/json', 'multipart/form-data'],
  // Its files and its order fit into a call of a router in another process.
  bodyLimitBytes: EDIT_LIMIT_BYTES,
} as const;

/** The response is a file. */
const fileTerms = {
  ...editTerms,
  reply: z.unknown(),
  replyType: ['image/png', 'image/jpeg', 'image/webp'],
} as const;

export const imageRoutes = {
  generateImage: {
    ...terms,
    path: '/api/v1/image/generate',
    operationId: 'generateImage',
    summary: 'Makes images',
    description: `Each image that is delivered is charged; if some of the variants can't be made, the others are delivered and charged.
Of fields that are not listed here, the model gets those that the operator has enabled.`,
    body: ImageRequest,
    // A prompt has 32,768 characters, each of up to 12 bytes.
    bodyLimitBytes: 1_048_576,
    reply: ImageReply,
    fileTypes: ['image/webp', 'image/png', 'image/jpeg'],
  },
  generateImages: {
    ...terms,
    path: '/api/v1/images/generations',
    operationId: 'generateImages',
    summary: "Makes images, with OpenAI's parameters",
    description: `Each image that is delivered is charged; if some of \`n\` can't be made, the others are delivered and charged. Of fields
that are not listed here, the model gets those that the operator has enabled.`,
    body: ImageGenerationRequest,
    bodyLimitBytes: 1_048_576,
    reply: ImageGenerationReply,
  },
  editImages: {
    ...editTerms,
    path: '/api/v1/images/edits',
    operationId: 'editImages',
    summary: "Changes images, with OpenAI's parameters",
    description: `Each image that is delivered is charged. Of fields that are not listed here, the model gets those that the
operator has enabled. Each image to start from has at least 64×64 pixels and at most 25 MB.`,
    body: ImageEditsRequest,
    reply: ImageGenerationReply,
  },
  editImage: {
    ...fileTerms,
    path: '/api/v1/image/edit',
    operationId: 'editImage',
    summary: 'Changes an image',
    description: `The response is the file of the changed image. Of fields that are not listed here, the model gets those
that the operator has enabled. The image to start from has at least 64×64 pixels and at most 25 MB.`,
    body: ImageEditRequest,
  },
  multiEditImage: {
    ...fileTerms,
    path: '/api/v1/image/multi-edit',
    operationId: 'multiEditImage',
    summary: 'Makes one image of several',
    description: `The response is the file of the new image. Of fields that are not listed here, the model gets those that the
operator has enabled. Each image to start from has at least 64×64 pixels and at most 25 MB.`,
    body: ImageMultiEditRequest,
  },
  upscaleImage: {
    ...fileTerms,
    replyType: ['image/png'],
    path: '/api/v1/image/upscale',
    operationId: 'upscaleImage',
    summary: 'Enlarges an image',
    description: `The response is a PNG of the enlarged image. A scale up to 2 has one price, a larger one another; what counts is the
scale of the result. The image has at least 64×64 pixels and at most 25 MB.`,
    body: ImageUpscaleRequest,
  },
  removeBackground: {
    ...fileTerms,
    replyType: ['image/png'],
    path: '/api/v1/image/background-remove',
    operationId: 'removeBackground',
    summary: 'Removes the background of an image',
    description: `The response is a PNG whose background is transparent. The image has at least 64×64 pixels and at most 25 MB.`,
    body: ImageCutoutRequest,
  },
  imageStyles: {
    method: 'GET',
    path: '/api/v1/image/styles',
    operationId: 'listImageStyles',
    tag: 'Image',
    summary: 'Lists the values of `style_preset`',
    description: 'A style adds words to the prompt, so every image model has all of them.',
    access: 'public',
    status: 200,
    reply: ImageStyleList,
    headers: ['balances'],
    refusals: [],
  },
} as const satisfies Record<string, RouteDefinition>;
