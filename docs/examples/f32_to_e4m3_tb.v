// Reads the rows of a pack and prints the code that the design gives for each, in hexadecimal:
//   halfulp gen cast:f32:e4m3 -o pack --also memh
//   iverilog -DROWS=$(grep -vc // pack/vectors.memh) -o cast_tb f32_to_e4m3.v f32_to_e4m3_tb.v
//   halfulp verify pack --text --exec 'vvp -n cast_tb +rows=pack/vectors.memh'
// Line 1 of the .memh file states the fields: the input in bits 39 to 8, the expected code in bits 7 to 0.
module testbench;
  reg [39:0] rows [0:`ROWS - 1];
  reg [8*256-1:0] file;
  reg [31:0] x;
  wire [7:0] y;
  integer i;

  f32_to_e4m3 design_under_test(.x(x), .y(y));

  initial begin
    if (!$value$plusargs("rows=%s", file)) file = "pack/vectors.memh";
    $readmemh(file, rows);
    for (i = 0; i < `ROWS; i = i + 1) begin
      x = rows[i][39:8];
      #1 $display("%02x", y);
    end
    $finish;
  end
endmodule
