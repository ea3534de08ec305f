// float32 to E4M3, ties to even, saturating. One combinational step.
module f32_to_e4m3(input wire [31:0] x, output reg [7:0] y);
  wire [7:0] exponent = x[30:23];
  wire [23:0] significand = {1'b1, x[22:0]};
  // 121 is 2^-6, the smallest normal number; below it the significand moves further right.
  wire normal = exponent >= 8'd121;
  wire [7:0] shift = normal ? 8'd20 : 8'd141 - exponent;
  wire [23:0] kept = significand >> shift;
  wire [23:0] rest = significand & ((24'd1 << shift) - 24'd1);
  wire [23:0] half = 24'd1 << (shift - 8'd1);
  wire up = rest > half || (rest == half && kept[0]);
  wire [11:0] code = (normal ? {1'b0, exponent - 8'd121, 3'b000} : 12'd0) + {8'd0, kept[3:0]} + {11'd0, up};

  always @* begin
    if (exponent == 8'hff && x[22:0] != 0)
      y = {x[31], 7'h7f};
    else if (exponent >= 8'd136 || (normal && code > 12'h07e))
      y = {x[31], 7'h7e};
    else if (exponent < 8'd117)
      y = {x[31], 7'h00};
    else
      y = {x[31], code[6:0]};
  end
endmodule
