import type { RequestDefinition } from '@berth/kernel';
import { applyDecorators, Catch, UseFilters, type RpcExceptionFilter } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';

export interface HandleRequestOptions {
  /** Delivers the request to every instance of the service instead of one. */
  readonly broadcast?: boolean;
}

// Nest's own filter would turn every error into "Internal server error" before the server can map it.
@Catch()
class PassErrorsOn implements RpcExceptionFilter {
  catch(error: unknown): Observable<never> {
    return throwError(() => error);
  }
}

const passErrorsOn = new PassErrorsOn();

/**
 * Makes a controller's method `(payload: Request) => Promise<Response>` the handler of `definition`. Its errors reach
 * the caller as DomainErrors.
 */
export const HandleRequest = <Request, Response>(
  definition: RequestDefinition<Request, Response>,
  options: HandleRequestOptions = {},
): MethodDecorator =>
  applyDecorators(
    MessagePattern(definition.subject, { broadcast: options.broadcast === true }),
    UseFilters(passErrorsOn),
  );
