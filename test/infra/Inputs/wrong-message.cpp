// RUN: yes
int *First = 0;
// CHECK-MESSAGES: :[[@LINE-1]]:14: warning: use something else
// CHECK-FIXES: int *First = nullptr;
