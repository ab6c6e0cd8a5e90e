// A refund desk with the Vercel AI SDK: npm install && node refund.mjs
import { provider } from "./tracing.mjs";
import { createOpenAI } from "@ai-sdk/openai";
import { trace } from "@opentelemetry/api";
import { generateText, stepCountIs, tool } from "ai";
import { z } from "zod";

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const tools = {
  lookup_order: tool({
    description: "What the shop knows about an order.",
    inputSchema: z.object({ order_id: z.string() }),
    execute: async ({ order_id }) => ({ order_id, total: 25.5, status: "delivered" }),
  }),
  issue_refund: tool({
    description: "Pay money back to the customer's card.",
    inputSchema: z.object({ order_id: z.string(), amount: z.number() }),
    execute: async ({ order_id, amount }) => ({ refunded: amount, order_id }),
  }),
};

// One span around the run says whose it is and which task it tries; the SDK's own spans lie inside.
const marks = { "gen_ai.agent.name": "refund-bot", "whileai.scenario_id": "refund-042", "whileai.eval_set": "smoke" };

await trace.getTracer("shop").startActiveSpan("refund", { attributes: marks }, async (span) => {
  const { text } = await generateText({
    model: openai.chat("gpt-4o-mini"),
    system: "You are the refund desk of a small shop. Look an order up before you pay anything back.",
    prompt: "Please refund order A-1001",
    tools,
    stopWhen: stepCountIs(5),
    experimental_telemetry: { isEnabled: true, functionId: "refund-bot" },
  });
  span.setAttribute("whileai.reward", text.includes("25.50") ? 1 : 0);
  span.end();
  console.log(span.spanContext().traceId, text);
});

await provider.shutdown(); // sends what is still waiting
