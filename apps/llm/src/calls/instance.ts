import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';

/** This process, as reservations name it: when it is gone, its open calls are settled. */
@Injectable()
export class Instance {
  readonly id: string = randomUUID();
}
