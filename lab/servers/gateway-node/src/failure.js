// Why there is no answer: a status of HTTP, and the reason for whoever asked.

export class Failure extends Error {
  constructor(statusCode, reason) {
    super(reason.slice(0, 500));
    this.statusCode = statusCode;
  }
}

export const lost = (url, what) => new Failure(503, `no answer from ${url}: ${what}`);
export const tooLate = (url, deadlineMs) => new Failure(504, `no answer from ${url} within ${deadlineMs} ms`);
