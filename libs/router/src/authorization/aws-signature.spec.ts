import { expect, it } from 'vitest';
import { isSignedBy } from '../../test/aws-signature.js';

/** Of the test suite for Signature Version 4 that AWS publishes. */
const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const CREDENTIAL = 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request';
const SENT = { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' };

const VECTORS = [
  {
    name: 'get-vanilla',
    method: 'GET',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'post-vanilla',
    method: 'POST',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    body: 'Param1=value1',
    type: 'application/x-www-form-urlencoded',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
];

it.each(VECTORS)('the test checks signatures as in the vector $name', (vector) => {
  const { method, body = '', type, signature } = vector;
  const names = `${type === undefined ? '' : 'content-type;'}host;x-amz-date`;
  const authorization = `${CREDENTIAL}, SignedHeaders=${names}, Signature=${signature}`;
  const request = { method, path: '/', headers: { ...SENT, 'content-type': type, authorization }, body };
  expect(isSignedBy(SECRET, request)).toBe(true);
  expect(isSignedBy(`${SECRET}x`, request)).toBe(false);
});
