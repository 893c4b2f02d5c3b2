// Sends what a message says with the unchanged SDKs, and replies with what they return. They find address and key in the
// environment.
import Anthropic from '@anthropic-ai/sdk';
import { createServer } from 'node:http';
import OpenAI from 'openai';

const openai = new OpenAI({ maxRetries: 0 });
const anthropic = new Anthropic({ maxRetries: 0 });
const METHODS = {
  chat: (body) => openai.chat.completions.create(body),
  chatStream: (body) => openai.chat.completions.stream(body).finalChatCompletion(),
  response: (body) => openai.responses.create(body),
  responseStream: (body) => openai.responses.stream(body).finalResponse(),
  embeddings: (body) => openai.embeddings.create(body),
  models: async () => (await openai.models.list()).data,
  message: (body) => anthropic.messages.create(body),
  messageStream: (body) => anthropic.messages.stream(body).finalMessage(),
  countTokens: (body) => anthropic.messages.countTokens(body),
  anthropicModels: async () => (await anthropic.models.list()).data,
};

const send = ({ method, body }) =>
  METHODS[method](body).then(
    (value) => ({ value }),
    ({ status, message, error }) => ({ error: { status, message, body: error } }),
  );

const serve = async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  response.setHeader('content-type', 'application/json');
  if (request.url !== '/chat') return response.end('{"status":"ok"}');
  const { message } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
  response.end(JSON.stringify({ response: JSON.stringify(await send(JSON.parse(message))) }));
};

createServer((request, response) => void serve(request, response)).listen(
  Number(process.env.PORT),
  '127.0.0.1',
  () => console.log('the SDKs are ready'),
);
