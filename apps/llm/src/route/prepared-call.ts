import type { IncomingHttpHeaders } from 'node:http';
import { choicesOf, inputBound, outputLimit, type OutputLimit } from '../dialect/call-bounds.js';
import { memberOf } from '../dialect/json-value.js';
import type { Operation } from '../dialect/operation.js';
import { invalidRequest, modelNotFound, unsupported } from '../dialect/refusal.js';
import { refusedBeta, unsupportedIn, type RequestBody } from '../dialect/unsupported-parameters.js';
import type { CallDemand } from '../ledger/call-demand.js';
import type { Model, ModelCatalogue } from '../models/model-catalogue.js';
import type { ReadBody } from './read-body.js';

/** A call that may be sent, as far as its body goes. */
export interface PreparedCall {
  readonly operation: Operation;
  readonly model: Model;
  readonly body: RequestBody;
  readonly limit: OutputLimit;
  readonly demand: CallDemand;
}

/** Errors: 404 for an unknown model; 400 for what the body must not contain. */
export const prepareCall = (
  operation: Operation,
  { body, bytes }: ReadBody,
  headers: IncomingHttpHeaders,
  models: Pick<ModelCatalogue, 'find'>,
): PreparedCall => {
  const name = memberOf(body, 'model');
  if (typeof name !== 'string') throw invalidRequest('model must be a string.');
  const model = models.find(operation.dialect, name);
  if (model === undefined) throw modelNotFound();
  const refusal = unsupportedIn(body, operation);
  if (refusal !== undefined) throw refusal;
  const beta = refusedBeta([headers['anthropic-beta']].flat().join(','), model.allowedBetas);
  if (beta !== undefined) throw unsupported('This value of anthropic-beta');
  const limit = outputLimit(body, operation, model);
  const bound = {
    inputTokens: inputBound(body, bytes, model),
    outputTokens: limit.tokens,
    choices: choicesOf(body),
    rates: model.rates,
  };
  return {
    operation,
    model,
    body,
    limit,
    demand: { bound, mayShrink: limit.tokens > 0 && !limit.isCallers },
  };
};

/** What the operator's file accepts as a name, and can be shown. */
const NAME = /^[^\s\p{C}]{1,200}$/u;

/** The model as the list of calls shows it; what cannot be the name of one is not shown. */
export const shownModel = (body: RequestBody): string => {
  const name = memberOf(body, 'model');
  return typeof name === 'string' && NAME.test(name) ? name : '';
};
