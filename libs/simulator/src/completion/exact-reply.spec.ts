import { expect, test } from 'vitest';
import { exactReply } from './exact-reply.js';

test.each([
  ['Reply exactly: pong', 'pong'],
  ['Reply with exactly: Hello, world.', 'Hello, world.'],
  ['Say exactly "It works!"', 'It works!'],
  ["Please respond with only the word 'yes' and nothing else.", 'yes'],
  ['Reply with just the word pong.', 'pong'],
  ['Respond with exactly OK', 'OK'],
  ['Respond with exactly the following text: a\nb', 'a\nb'],
  ['You are being tested. Reply with the word banana', 'banana'],
  ['Repeat after me: 日本 🙂', '日本 🙂'],
  ['Say exactly thistle', 'thistle'],
  ["Answer with 'blue'", 'blue'],
  ['Say this is a test', 'This is a test'],
  ['Say "hello"', 'hello'],
  ['Say hi.', 'Hi'],
  ['What is 2+2? Answer briefly', '4'],
  ["What's 7 times 6", '42'],
  ['Count from 1 to 5', '1, 2, 3, 4, 5'],
  ['What is the capital of France?', 'The capital of France is Paris.'],
])('%j dictates %j', (message, reply) => {
  expect(exactReply(message)).toBe(reply);
});

test.each([
  'Tell me a story',
  'Hello',
  '',
  'Reply with a short poem',
  'What did she say to him?',
  'What is the meaning of 42?',
])('%j dictates nothing', (message) => {
  expect(exactReply(message)).toBeUndefined();
});
