import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { FromQuery } from '../validation/nested-rules.js';
import { IsText, IsWithin } from '../validation/rules.js';

/** The cursor and limit of a page. */
export class PageQuery {
  @ApiProperty({ required: false, description: '`nextCursor` of the page before.' })
  @IsOptional()
  @IsText({ max: 4_096 })
  readonly cursor?: string;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 200, default: 50, required: false })
  @FromQuery('integer')
  @IsOptional()
  @IsWithin(1, 200)
  readonly limit: number = 50;
}
